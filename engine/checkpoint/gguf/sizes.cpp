// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/gguf_sizes.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "checkpoint/gguf/byte_cursor.h"
#include "checkpoint/gguf/metadata.h"
#include "checkpoint/mapped_file.h"

namespace draftscope::engine {

namespace {

constexpr std::uint64_t max_listed_layers = 4096;

/// The value as JSON: an integer, or a list of integers or booleans; null if it is no size.
nlohmann::json size_of(const gguf::Metadata& metadata, std::string_view key,
                       const gguf::MetadataValue& value) {
  const bool is_number = value.type != gguf::ValueType::string && value.type != gguf::ValueType::f32 &&
                         value.type != gguf::ValueType::f64 && value.type != gguf::ValueType::boolean;
  if (!value.is_array) {
    const auto number = metadata.integer<std::int64_t>(key);
    return is_number && number ? nlohmann::json(*number) : nlohmann::json();
  }
  if (value.count > max_listed_layers) return {};
  if (value.type == gguf::ValueType::boolean) {
    const auto flags = metadata.booleans(key);
    return flags ? nlohmann::json(*flags) : nlohmann::json();
  }
  const auto numbers = metadata.integers(key);
  return is_number && numbers ? nlohmann::json(*numbers) : nlohmann::json();
}

}  // namespace

Result<std::string> gguf_sizes(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const Mapping mapping, Mapping::open_file(path));
  const std::string file = path.string();
  constexpr std::uint32_t magic = 0x46554747;  // "GGUF", little-endian.
  gguf::ByteCursor cursor(mapping.bytes(), file);
  DRAFTSCOPE_TRY_ASSIGN(const auto letters, cursor.number<std::uint32_t>("the magic"));
  if (letters != magic) return fail("{}: no GGUF file, expected it to begin with the letters GGUF", file);
  DRAFTSCOPE_TRY_ASSIGN(const auto version, cursor.number<std::uint32_t>("the version"));
  if (version != 2 && version != 3) return fail("{}: version {}, expected 2 or 3", file, version);
  DRAFTSCOPE_TRY(cursor.number<std::uint64_t>("the number of tensors"));
  DRAFTSCOPE_TRY_ASSIGN(const auto keys, cursor.number<std::uint64_t>("the number of keys"));
  DRAFTSCOPE_TRY_ASSIGN(const gguf::Metadata metadata, gguf::Metadata::read(keys, cursor));
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view architecture, metadata.text("general.architecture"));
  nlohmann::json sizes = nlohmann::json::object();
  const std::string prefix = std::string(architecture) + ".";
  for (const auto& [key, value] : metadata.values())
    if (key.starts_with(prefix))
      if (nlohmann::json size = size_of(metadata, key, value); !size.is_null())
        sizes[std::string(key.substr(prefix.size()))] = std::move(size);
  sizes["architecture"] = architecture;
  // The rows of the tokens, where no key counts them.
  if (const gguf::MetadataValue* const tokens = metadata.find("tokenizer.ggml.tokens");
      tokens != nullptr && !sizes.contains("vocab_size"))
    sizes["vocab_size"] = tokens->count;
  return sizes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace draftscope::engine
