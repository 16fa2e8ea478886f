// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_file.h"

#include <draftscope/base/quote.h>
#include <bit>
#include <cstring>
#include <unordered_set>

namespace draftscope::engine::gguf {

namespace {

constexpr std::uint32_t default_alignment = 32;
constexpr Range<std::uint32_t> alignment_range{8, 1U << 20U};

Result<void> check_version(std::uint32_t version, std::string_view file) {
  // Versions are small: a version whose lower half is empty is stored in the other byte order.
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

/// Minimum bytes of an entry: its name's length, the number of extents, one extent, the type and the offset.
constexpr std::uint64_t min_entry_bytes = 8 + 4 + 8 + 4 + 8;
constexpr std::uint32_t max_extents = 4;

Result<const BlockFormat*> read_format(ByteCursor& cursor, std::string_view tensor) {
  DRAFTSCOPE_TRY_ASSIGN(const auto id, cursor.number<std::uint32_t>("a tensor's type"));
  const BlockFormat* const format = find_block_format(id);
  if (format == nullptr || !format->is_readable())
    return fail("{}: tensor {}: type {} ({}), expected one of {}", cursor.file(), quote(tensor),
                format == nullptr ? "unknown" : format->name, id, readable_formats());
  return format;
}

Result<std::uint64_t> needed_bytes(const StoredTensor& tensor, std::string_view file) {
  if (tensor.extents[0] % tensor.format->weights != 0)
    return fail("{}: tensor {}: rows of {} weights, expected a multiple of {} for {}", file,
                quote(tensor.name), tensor.extents[0], tensor.format->weights, tensor.format->name);
  std::uint64_t bytes = tensor.extents[0] / tensor.format->weights;
  bool fits = !__builtin_mul_overflow(bytes, std::uint64_t{tensor.format->bytes}, &bytes);
  for (std::size_t i = 1; i < tensor.extents.size(); ++i)
    fits = fits && !__builtin_mul_overflow(bytes, tensor.extents[i], &bytes);
  if (!fits)
    return fail("{}: tensor {}: shape is [{}], expected a number of bytes that fits 64 bits", file,
                quote(tensor.name), fmt::join(tensor.extents, ", "));
  return bytes;
}

/// Reads an entry; `begin` is its offset from the beginning of all data for now.
Result<StoredTensor> read_entry(ByteCursor& cursor) {
  StoredTensor tensor;
  DRAFTSCOPE_TRY_ASSIGN(tensor.name, cursor.text("a tensor's name"));
  DRAFTSCOPE_TRY_ASSIGN(const auto extents, cursor.number<std::uint32_t>("a tensor's shape"));
  if (extents < 1 || extents > max_extents)
    return fail("{}: tensor {}: {} dimensions, expected 1 to {}", cursor.file(), quote(tensor.name), extents,
                max_extents);
  for (std::uint32_t i = 0; i < extents; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(tensor.extents.emplace_back(), cursor.number<std::uint64_t>("a tensor's shape"));
    if (tensor.extents.back() == 0)
      return fail("{}: tensor {}: dimension {} is 0, expected at least 1", cursor.file(), quote(tensor.name),
                  i);
  }
  DRAFTSCOPE_TRY_ASSIGN(tensor.format, read_format(cursor, tensor.name));
  DRAFTSCOPE_TRY_ASSIGN(tensor.begin, cursor.number<std::uint64_t>("a tensor's offset"));
  DRAFTSCOPE_TRY_ASSIGN(tensor.bytes, needed_bytes(tensor, cursor.file()));
  return tensor;
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

Result<std::vector<StoredTensor>> read_tensor_table(std::uint64_t count, std::uint64_t alignment,
                                                    std::uint64_t file_bytes, ByteCursor& cursor) {
  if (count > cursor.remaining() / min_entry_bytes)
    return fail("{}: {} tensors, expected no more than the file's {} bytes left describe", cursor.file(),
                count, cursor.remaining());
  std::vector<StoredTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(auto tensor, read_entry(cursor));
    if (!names.insert(tensor.name).second)
      return fail("{}: tensor {} occurs twice, expected once", cursor.file(), quote(tensor.name));
    tensors.push_back(std::move(tensor));
  }
  const auto padded = [=](std::uint64_t position) {
    return (position + alignment - 1) / alignment * alignment;
  };
  const std::uint64_t data_begin = padded(cursor.position());
  std::uint64_t expected = 0;  // ggml writes tensors one after the other, and cannot read any other order.
  for (StoredTensor& tensor : tensors) {
    if (tensor.begin % alignment != 0)
      return fail("{}: tensor {}: data at offset {}, expected a multiple of {}", cursor.file(),
                  quote(tensor.name), tensor.begin, alignment);
    const bool inside = data_begin <= file_bytes && tensor.begin <= file_bytes - data_begin &&
                        tensor.bytes <= file_bytes - data_begin - tensor.begin;
    if (!inside)
      return fail(
          "{}: tensor {}: {} bytes of data at offset {}, expected them to end within the file's {}; it is "
          "truncated or damaged",
          cursor.file(), quote(tensor.name), tensor.bytes, tensor.begin, file_bytes);
    if (tensor.begin != expected)
      return fail("{}: tensor {}: data at offset {}, expected {}, after the tensor before", cursor.file(),
                  quote(tensor.name), tensor.begin, expected);
    expected = padded(tensor.begin + tensor.bytes);
    tensor.begin += data_begin;
  }
  return tensors;
}

}  // namespace draftscope::engine::gguf
