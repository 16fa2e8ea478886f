// SPDX-License-Identifier: GPL-3.0-or-later
#include "chart_places.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

const std::vector<double>& keys_of(const ChartPanel& panel, const ChartSeries& series) {
  return panel.has_values_along_x ? series.y : series.x;
}

std::size_t nearest_point(const ChartPanel& panel, const ChartSeries& series, double key) {
  const std::vector<double>& keys = keys_of(panel, series);
  std::size_t best = 0;
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (std::abs(keys[i] - key) < std::abs(keys[best] - key)) best = i;
  return best;
}

/// The point `by` steps further along the axis of keys.
std::size_t point_beside(const ChartPanel& panel, const ChartSeries& series, std::size_t point, int by) {
  const std::vector<double>& keys = keys_of(panel, series);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  const auto at = std::find(order.begin(), order.end(), point) - order.begin();
  return order[static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(at + by, 0, static_cast<std::ptrdiff_t>(order.size()) - 1))];
}

/// The next series that has points, over all panels; `from` if there is none.
ChartPlace across(const Chart& chart, ChartPlace from, int by) {
  std::vector<ChartPlace> all;
  for (std::size_t panel = 0; panel < chart.panels.size(); ++panel)
    for (std::size_t series = 0; series < chart.panels[panel].series.size(); ++series)
      if (!chart.panels[panel].series[series].x.empty()) all.push_back({panel, series, 0});
  const auto at = std::find(all.begin(), all.end(), ChartPlace{from.panel, from.series, 0}) - all.begin();
  if (at + by < 0 || at + by >= static_cast<std::ptrdiff_t>(all.size())) return from;
  ChartPlace to = all[static_cast<std::size_t>(at + by)];
  const ChartPanel& panel = chart.panels[from.panel];
  to.point = nearest_point(chart.panels[to.panel], chart.panels[to.panel].series[to.series],
                           keys_of(panel, panel.series[from.series])[from.point]);
  return to;
}

ChartPlace cell_beside(const ChartPanel& panel, const ChartPlace& from, int columns, int rows) {
  const ChartCell& cell = panel.cells[from.point];
  for (std::size_t i = 0; i < panel.cells.size(); ++i)
    if (panel.cells[i].column == cell.column + columns && panel.cells[i].row == cell.row + rows)
      return {from.panel, ChartPlace::of_cells, i};
  return from;
}

QString numbers_of(const ChartPanel& panel, const ChartSeries& series, std::size_t point, const QString& x) {
  const auto named = [](const ChartAxis& axis, double value, const QString& label) {
    const auto place = static_cast<qsizetype>(std::lround(value));
    if (place >= 0 && place < axis.names.size()) return axis.names[place];
    return QStringLiteral("%1: %2").arg(label, number_text(value));
  };
  QStringList lines;
  if (!series.name.isEmpty()) lines << series.name;
  lines << QStringLiteral("%1: %2").arg(x, number_text(series.x[point]));
  lines << named(panel.y, series.y[point], panel.y.label);
  if (!series.low.empty() && std::isfinite(series.low[point]) && std::isfinite(series.high[point]))
    lines
        << QStringLiteral("95 % %1–%2").arg(number_text(series.low[point]), number_text(series.high[point]));
  return lines.join(u'\n');
}

}  // namespace

bool is_in(const Chart& chart, const ChartPlace& place) {
  if (place.panel >= chart.panels.size()) return false;
  const ChartPanel& panel = chart.panels[place.panel];
  if (place.series == ChartPlace::of_cells) return place.point < panel.cells.size();
  return place.series < panel.series.size() && place.point < panel.series[place.series].x.size();
}

QString words_of(const Chart& chart, const ChartPlace& place) {
  if (!is_in(chart, place)) return {};
  const ChartPanel& panel = chart.panels[place.panel];
  if (place.series == ChartPlace::of_cells) return panel.cells[place.point].words;
  const ChartSeries& series = panel.series[place.series];
  const QString said = series.words.value(static_cast<qsizetype>(place.point));
  return said.isEmpty() ? numbers_of(panel, series, place.point, chart.x.label) : said;
}

std::optional<ChartPlace> first_place(const Chart& chart) {
  for (std::size_t panel = 0; panel < chart.panels.size(); ++panel) {
    if (!chart.panels[panel].cells.empty()) return ChartPlace{panel, ChartPlace::of_cells, 0};
    for (std::size_t series = 0; series < chart.panels[panel].series.size(); ++series)
      if (!chart.panels[panel].series[series].x.empty()) return ChartPlace{panel, series, 0};
  }
  return std::nullopt;
}

ChartPlace next_place(const Chart& chart, const ChartPlace& from, Qt::Key key) {
  if (!is_in(chart, from)) return from;
  const ChartPanel& panel = chart.panels[from.panel];
  const int right = key == Qt::Key_Right ? 1 : key == Qt::Key_Left ? -1 : 0;
  const int down = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
  if (right == 0 && down == 0) return from;
  if (from.series == ChartPlace::of_cells) return cell_beside(panel, from, right, down);
  const int along = panel.has_values_along_x ? down : right;
  if (along == 0) return across(chart, from, panel.has_values_along_x ? right : down);
  ChartPlace to = from;
  to.point = point_beside(panel, panel.series[from.series], from.point, along);
  return to;
}

}  // namespace draftscope::gui
