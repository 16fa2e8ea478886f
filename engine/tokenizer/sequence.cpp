// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/sequence.h"

namespace draftscope::engine::tokenizer {
namespace {

// Published files nest once at most; the limit keeps a hostile one off the stack's end.
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

Result<void> for_each_in_sequence(const JsonField& field, std::string_view member, const VisitStep& visit) {
  if (field.value().is_null()) return {};
  return visit_nested(field, member, visit, 0);
}

}  // namespace draftscope::engine::tokenizer
