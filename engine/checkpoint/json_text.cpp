// SPDX-License-Identifier: GPL-3.0-or-later
#include "json_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "quote.h"

namespace draftscope::engine {
namespace {

/// nlohmann's message without its "[json.exception.parse_error.101] " prefix.
std::string_view without_prefix(std::string_view message) {
  const auto end = message.find("] ");
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file) {
  // The parser would take a zero byte for the end of the text.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    return fail("{}: not valid JSON: a zero byte at byte {}", file, zero);
  // One set of seen keys for each open object; the parser itself would silently keep the last of two.
  std::vector<std::set<std::string, std::less<>>> open;
  std::string repeated;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) {
      open.emplace_back();
    } else if (event == Event::object_end) {
      open.pop_back();
    } else if (event == Event::key && repeated.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open.back().insert(key).second) repeated = quote(key);
    }
    return true;
  };
  try {
    auto parsed = nlohmann::json::parse(text, watch);
    if (!repeated.empty()) return fail("{}: the key {} occurs twice, expected once", file, repeated);
    if (!parsed.is_object()) return fail("{}: found {}, expected a JSON object", file, describe(parsed));
    return parsed;
  } catch (const nlohmann::json::exception& error) {
    return fail("{}: not valid JSON: {}", file, quote(without_prefix(error.what())));
  }
}

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t most_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return fail("{}: no such file", path.string());
  if (!std::filesystem::is_regular_file(status)) return fail("{}: expected a regular file", path.string());
  const auto size = std::filesystem::file_size(path, error);
  if (error) return fail("{}: cannot be read: {}", path.string(), error.message());
  if (size > most_bytes) return fail("{}: {} bytes, expected at most {}", path.string(), size, most_bytes);
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size)))
    return fail("{}: cannot be read: {}", path.string(), std::strerror(errno));
  return text;
}

std::string describe(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  return value.dump();
}

}  // namespace draftscope::engine
