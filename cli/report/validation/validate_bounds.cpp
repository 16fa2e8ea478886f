// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/validation/validate_bounds.h"

#include <draftscope/base/number.h>

#include <algorithm>

namespace draftscope::cli {

Result<std::vector<ErrorBound>> parse_bounds(std::span<const std::string> texts) {
  std::vector<ErrorBound> bounds;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return fail("--bound {}: expected KIND=PERCENT", text);
    const auto kind = simulator::parse_question_kind(text.substr(0, equals));
    if (!kind) return fail("--bound {}: {}", text, kind.error().message);
    const auto percent = parse_number<double>(std::string_view(text).substr(equals + 1));
    if (!percent || *percent < 0.0)
      return fail("--bound {}: expected KIND=PERCENT with a percentage of at least 0", text);
    const bool is_known = std::any_of(bounds.begin(), bounds.end(),
                                      [&](const ErrorBound& bound) { return bound.kind == *kind; });
    if (is_known) return fail("--bound {}: the kind is given twice, expected once", text);
    bounds.push_back({*kind, *percent / 100.0, 0.0});
  }
  return bounds;
}

Result<void> check_bounds(std::vector<ErrorBound>& bounds, std::span<const simulator::KindErrors> kinds) {
  for (ErrorBound& bound : bounds) {
    const auto errors = std::find_if(kinds.begin(), kinds.end(), [&](const simulator::KindErrors& candidate) {
      return candidate.kind == bound.kind && candidate.speedup.count > 0;
    });
    if (errors == kinds.end())
      return fail("--bound {}: found no answered question of that kind, expected at least one",
                  simulator::question_kind_key(bound.kind));
    bound.found = errors->speedup.mean_absolute;
  }
  return {};
}

Result<int> result_of(std::span<const ErrorBound> bounds) {
  for (const ErrorBound& bound : bounds)
    if (!bound.held())
      return fail("--bound {}: found a mean error of {:.2f} %, expected at most {:g} %",
                  simulator::question_kind_key(bound.kind), 100.0 * bound.found, 100.0 * bound.limit);
  return 0;
}

}  // namespace draftscope::cli
