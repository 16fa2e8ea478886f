// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_size.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace draftscope {
namespace {

struct JsonSize {
  std::size_t depth = 0;         ///< Brackets that are open at the deepest place.
  std::size_t memory_bytes = 0;  ///< Bytes that nlohmann-json needs, without room to grow.
};

JsonSize size_of(std::string_view text) {
  constexpr std::size_t of_value = sizeof(nlohmann::json);
  constexpr std::size_t of_text = 48;
  constexpr std::size_t of_container = 64;
  constexpr std::size_t of_member = 96;
  JsonSize size;
  std::size_t open = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
      if (in_text) size.memory_bytes += of_text;
    } else if (in_text) {
      continue;
    } else if (c == '[' || c == '{') {
      size.depth = std::max(size.depth, ++open);
      size.memory_bytes += of_container;
    } else if (c == ']' || c == '}') {
      open -= open > 0 ? 1 : 0;
    } else if (c == ',') {
      size.memory_bytes += of_value;
    } else if (c == ':') {
      size.memory_bytes += of_member;
    }
  }
  return size;
}

}  // namespace

bool is_shallow_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos || (text[begin] != '[' && text[begin] != '{') ||
         size_of(text).depth <= max_json_depth;
}

Result<void> check_json_text(std::string_view text, std::string_view file) {
  // The parser would take a zero byte for the end of the text.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    return fail("{}: not valid JSON: a zero byte at byte {}", file, zero);
  constexpr std::size_t max_bytes = std::size_t{512} << 20U;
  const JsonSize size = size_of(text);
  if (size.depth > max_json_depth)
    return fail("{}: found brackets {} deep, expected at most {}", file, size.depth, max_json_depth);
  if (size.memory_bytes > max_bytes)
    return fail("{}: found JSON whose values need {} bytes of memory, expected at most {}", file,
                size.memory_bytes, max_bytes);
  return {};
}

}  // namespace draftscope
