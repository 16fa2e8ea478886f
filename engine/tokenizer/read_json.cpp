// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/read_json.h"

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {

Result<nlohmann::json> parse_json(std::string_view text, std::string_view label) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return fail("{}: is not JSON from byte {} on, expected a whole JSON text", label, error.byte);
  } catch (const nlohmann::json::exception& error) {
    return fail("{}: not JSON: {}", label, error.what());
  }
}

Result<std::int32_t> non_negative(const JsonField& field) {
  return field.integer(draftscope::Range<std::int32_t>{.min = 0});
}

Result<std::string> one_character(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(auto text, field.text());
  if (text.empty() || scan_utf8(text).length != text.size()) return field.wrong("a single character");
  return text;
}

}  // namespace draftscope::engine::tokenizer
