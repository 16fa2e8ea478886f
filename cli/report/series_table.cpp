// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/series_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

constexpr std::size_t chart_width = 32;

}  // namespace

std::string series_table(const std::vector<ChartedSeries>& series, const Glyphs& glyphs) {
  Table table({{"series", Align::left},
               {"values"},
               {"first"},
               {"last"},
               {"min"},
               {"mean"},
               {"max"},
               {"from first to last", Align::left}});
  for (const ChartedSeries& one : series) {
    std::vector<double> values;
    std::copy_if(one.values.begin(), one.values.end(), std::back_inserter(values),
                 [](double value) { return std::isfinite(value); });
    if (values.empty()) continue;
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    table.add_row({one.title, count(static_cast<std::int64_t>(values.size())), number(values.front()),
                   number(values.back()), number(*min), number(mean), number(*max),
                   line_chart(values, chart_width, glyphs)});
  }
  return table.text(4, glyphs.columns);
}

}  // namespace draftscope::cli
