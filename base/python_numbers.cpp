// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_size.h>
#include <draftscope/base/python_numbers.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace draftscope {

bool has_python_numbers(std::string_view text) {
  return text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
}

std::string without_python_numbers(std::string_view text, PythonNaN nan) {
  constexpr std::array<std::string_view, 3> words{"NaN", "Infinity", "-Infinity"};
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  char last = ' ';  // the last character outside of strings that is no blank
  while (!text.empty()) {
    const auto* const word = std::ranges::find_if(
        words, [&](std::string_view one) { return !in_string && text.starts_with(one); });
    if (word != words.end()) {
      const bool is_missing = nan == PythonNaN::missing && *word == "NaN" && last == ':';
      result += is_missing ? "null" : '"' + std::string(*word) + '"';
      text.remove_prefix(word->size());
      continue;
    }
    const std::size_t taken = in_string && text.front() == '\\' && text.size() > 1 ? 2 : 1;
    if (taken == 1 && text.front() == '"') in_string = !in_string;
    if (!in_string && text.front() > ' ') last = text.front();
    result += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return result;
}

Result<nlohmann::json> parse_python_json(std::string_view text, std::string_view name, PythonNaN nan) {
  DRAFTSCOPE_TRY(check_json_text(text, name));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    if (has_python_numbers(text)) {
      auto mended = nlohmann::json::parse(without_python_numbers(text, nan), nullptr, false);
      if (!mended.is_discarded()) return mended;
    }
    return fail("{}: is not JSON from byte {} on, expected a whole JSON text", name, error.byte);
  } catch (const nlohmann::json::exception&) {
    return fail("{}: holds a number that is too large, expected numbers of 64 bits", name);
  }
}

}  // namespace draftscope
