// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/read_json.h"

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {

namespace {

// Published files nest at most once; the limit protects the stack from a hostile one.
constexpr int deepest_nesting = 16;
// Published files have at most a dozen; each step makes a pattern, and goes over each text.
constexpr std::size_t max_steps = 256;

Result<void> visit_nested(const JsonField& field, std::string_view member, const VisitStep& visit, int depth,
                          std::size_t& visited) {
  DRAFTSCOPE_TRY(field.object());
  DRAFTSCOPE_TRY_ASSIGN(const auto type, field["type"].text());
  if (++visited > max_steps)
    return fail("{}: found more than {} steps, expected at most {}", field.name(), max_steps, max_steps);
  if (type != "Sequence") return visit(type, field);
  if (depth == deepest_nesting)
    return fail("{} is nested deeper than {}, expected at most that", field.name(), deepest_nesting);
  DRAFTSCOPE_TRY_ASSIGN(const auto steps, field[member].list());
  for (const JsonField& step : steps) DRAFTSCOPE_TRY(visit_nested(step, member, visit, depth + 1, visited));
  return {};
}

}  // namespace

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
  std::size_t visited = 0;
  return visit_nested(field, member, visit, 0, visited);
}

}  // namespace draftscope::engine::tokenizer
