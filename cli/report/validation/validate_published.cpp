// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/validation/validate_published.h"

#include <algorithm>

#include "terminal/outcome.h"

namespace draftscope::cli {

Result<int> validate_published(bool json) {
  DRAFTSCOPE_TRY_ASSIGN(const auto rows, simulator::published_rows());
  DRAFTSCOPE_TRY_ASSIGN(const auto found, simulator::backtest_published(rows));
  return print_published(found, json);
}

Result<int> print_published(const simulator::PublishedBacktests& found, bool json) {
  const int written = print_out(json ? published_json(found) : published_text(found, glyphs_for_stdout()));
  if (written != 0) return written;
  const std::vector<simulator::BacktestBound> bounds = found.bounds();
  const auto missed = std::count_if(bounds.begin(), bounds.end(),
                                    [](const simulator::BacktestBound& bound) { return !bound.held(); });
  if (missed > 0)
    return fail("published results: found {} of {} bounds missed, expected all to hold", missed,
                bounds.size());
  return 0;
}

}  // namespace draftscope::cli
