// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Series in the terminal: a row each, with first and last value, range, mean and a line chart.

#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ChartedSeries {
  std::string title;
  std::vector<double> values;  ///< in their order; those that are not finite are left out
};

/// Indented by four cells. Series without a value are left out.
[[nodiscard]] std::string series_table(const std::vector<ChartedSeries>& series, const Glyphs& glyphs);

}  // namespace draftscope::cli
