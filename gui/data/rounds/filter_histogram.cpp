// SPDX-License-Identifier: GPL-3.0-or-later
#include "filter_histogram.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr std::size_t max_bins = 32;
/// Few outliers must not press all others into one bin.
constexpr double widest_share = 0.99;

}  // namespace

FilterHistogram filter_histogram(const OpenedRecording& opened, std::size_t run_index,
                                 const RoundFilter& filter, const std::vector<bool>& keeps) {
  FilterHistogram histogram{.field = filter_field("time")};
  for (const FilterTerm& term : filter.terms)
    if (term.field->number != nullptr) {
      histogram.field = term.field;
      break;
    }
  std::vector<double> values;
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  for (const std::uint32_t round_index : rounds)
    if (const double value = histogram.field->number(opened, round_index); std::isfinite(value))
      values.push_back(value);
  if (values.empty()) return histogram;
  histogram.high = quantile_below(values, widest_share);
  histogram.low = *std::min_element(values.begin(), values.end());
  // Whole numbers have a bin each where these are few.
  const double reach = histogram.high - histogram.low;
  const bool is_whole =
      std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
  const std::size_t bins =
      is_whole && reach < static_cast<double>(max_bins) ? static_cast<std::size_t>(reach) + 1 : max_bins;
  histogram.all.assign(bins, 0);
  histogram.left.assign(bins, 0);
  for (const std::uint32_t round_index : rounds) {
    const double value = histogram.field->number(opened, round_index);
    if (!std::isfinite(value)) continue;
    const double share = reach > 0.0 ? (value - histogram.low) / reach : 0.0;
    const auto place =
        static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(bins - 1)));
    ++histogram.all[place];
    if (keeps[round_index]) ++histogram.left[place];
  }
  return histogram;
}

}  // namespace draftscope::gui
