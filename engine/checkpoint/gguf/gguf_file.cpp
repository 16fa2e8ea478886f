// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_file.h"

#include <draftscope/base/quote.h>
#include <bit>
#include <cstring>

namespace draftscope::engine::gguf {
namespace {

constexpr std::uint32_t default_alignment = 32;
constexpr Range<std::uint32_t> alignment_range{8, 1U << 20U};

Result<void> check_version(std::uint32_t version, std::string_view file) {
  // A version is small: one whose lower half is empty has its bytes the other way round.
  if (version != 0 && (version & 0xFFFFU) == 0)
    return fail("{}: a big-endian GGUF file, expected a little-endian one", file);
  if (version != 2 && version != 3) return fail("{}: GGUF version {}, expected 2 or 3", file, version);
  return {};
}

Result<std::uint32_t> alignment_of(const Metadata& metadata) {
  constexpr std::string_view key = "general.alignment";
  DRAFTSCOPE_TRY_ASSIGN(const auto alignment, metadata.integer_or(key, alignment_range, default_alignment));
  if (!std::has_single_bit(alignment)) return metadata.wrong(key, "a power of two");
  return alignment;
}

}  // namespace

Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes, std::string_view file) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::string_view magic = "GGUF";
  if (bytes.size() < magic.size() || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return fail("{}: no GGUF file, expected it to begin with the letters GGUF", file);
  ByteCursor cursor(bytes, file);
  DRAFTSCOPE_TRY(cursor.take(magic.size(), "the magic"));
  DRAFTSCOPE_TRY_ASSIGN(const auto version, cursor.number<std::uint32_t>("the version"));
  DRAFTSCOPE_TRY(check_version(version, file));
  DRAFTSCOPE_TRY_ASSIGN(const auto tensors, cursor.number<std::uint64_t>("the number of tensors"));
  DRAFTSCOPE_TRY_ASSIGN(const auto keys, cursor.number<std::uint64_t>("the number of keys"));
  GgufHeader header;
  DRAFTSCOPE_TRY_ASSIGN(header.metadata, Metadata::read(keys, cursor));
  DRAFTSCOPE_TRY_ASSIGN(const auto alignment, alignment_of(header.metadata));
  DRAFTSCOPE_TRY_ASSIGN(header.tensors, read_tensor_table(tensors, alignment, bytes.size(), cursor));
  header.bytes = cursor.position();
  return header;
}

Result<GgufFile> open_gguf_file(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(auto mapping, Mapping::open_file(path));
  DRAFTSCOPE_TRY_ASSIGN(auto header, parse_gguf_header(mapping.bytes(), path.string()));
  return GgufFile{path.string(), std::move(mapping), std::move(header)};
}

}  // namespace draftscope::engine::gguf
