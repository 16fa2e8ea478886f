// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_text.h>

#include <draftscope/base/json_size.h>
#include <draftscope/base/python_numbers.h>
#include <draftscope/base/quote.h>

#include <set>
#include <vector>

namespace draftscope {
namespace {

/// Message of nlohmann-json without its "[json.exception.parse_error.101] " prefix.
std::string_view without_prefix(std::string_view message) {
  const auto end = message.find("] ");
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

/// Parses a text; `repeated` becomes the first key that an object has twice.
nlohmann::json parse_watching_keys(std::string_view text, std::string& repeated) {
  // Each open object has a set of seen keys, since the parser itself would silently keep the last of two.
  std::vector<std::set<std::string, std::less<>>> open;
  return nlohmann::json::parse(text, [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
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
  });
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY(check_json_text(text, file));
  std::string repeated;
  const std::string in_json =
      has_python_numbers(text) ? without_python_numbers(text, PythonNaN::text) : std::string();
  try {
    auto parsed = parse_watching_keys(in_json.empty() ? text : in_json, repeated);
    if (!repeated.empty()) return fail("{}: the key {} occurs twice, expected once", file, repeated);
    if (!parsed.is_object()) return fail("{}: found {}, expected a JSON object", file, describe(parsed));
    return parsed;
  } catch (const nlohmann::json::exception& error) {
    return fail("{}: not valid JSON: {}", file, quote(without_prefix(error.what())));
  }
}

std::string describe(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  return value.dump();
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace draftscope
