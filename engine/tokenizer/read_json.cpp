// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/read_json.h"

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {

namespace {

// Published files nest at most once; the limit protects the stack from a hostile one.
constexpr int deepest_nesting = 16;

Result<void> visit_nested(const JsonField& field, std::string_view member, const VisitStep& visit,
                          int depth) {
  DRAFTSCOPE_TRY(field.object());
  DRAFTSCOPE_TRY_ASSIGN(const auto type, field["type"].text());
  if (type != "Sequence") return visit(type, field);
  if (depth == deepest_nesting) return fail("{} is nested deeper than {}", field.name(), deepest_nesting);
  DRAFTSCOPE_TRY_ASSIGN(const auto steps, field[member].list());
  for (const JsonField& step : steps) DRAFTSCOPE_TRY(visit_nested(step, member, visit, depth + 1));
  return {};
}

}  // namespace

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

Result<void> for_each_in_sequence(const JsonField& field, std::string_view member, const VisitStep& visit) {
  if (field.value().is_null()) return {};
  return visit_nested(field, member, visit, 0);
}

}  // namespace draftscope::engine::tokenizer
