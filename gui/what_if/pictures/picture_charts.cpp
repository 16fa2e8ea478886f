// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_charts.h"

#include <QCoreApplication>
#include <algorithm>
#include <limits>

#include "charts/chart_colors.h"
#include "what_if/pictures/roofline_plot.h"

namespace draftscope::gui {

namespace {

QString chart_words(const char* words) {
  return QCoreApplication::translate("WhatIfView", words);
}

}  // namespace

Chart heat_map_chart(const HeatMap& map, const QString& name, ChartTable table) {
  Chart chart{.name = name, .x = {.label = chart_words("exit layer E of the recorded model")}};
  chart.table = std::move(table);
  ChartPanel panel{.y = {.label = chart_words("draft length γ")}};
  for (std::int32_t exit = 1; exit <= map.exits; ++exit) chart.x.names << QString::number(exit);
  // Long drafts on top.
  for (std::int32_t gamma = map.lengths; gamma >= 1; --gamma) panel.y.names << QString::number(gamma);
  const HeatCell* best = map.best();
  double limit = scale_limit_for(1.0);
  for (const HeatCell& of : map.cells) {
    ChartCell& cell = panel.cells.emplace_back();
    cell.column = of.exit - 1;
    cell.row = map.lengths - of.gamma;
    cell.is_marked = &of == best;
    if (!of.refusal.empty()) continue;
    cell.speedup = of.speedup;
    cell.text = QString::number(of.speedup, 'f', 2);
    limit = std::max(limit, scale_limit_for(of.speedup));
  }
  chart.scale_limit = limit;
  if (!panel.cells.empty()) chart.panels.push_back(std::move(panel));
  return chart;
}

Chart bars_chart(const std::vector<BarRow>& rows, const QString& name, ChartTable table) {
  Chart chart{.name = name, .x = {.label = chart_words("speedup")}};
  chart.table = std::move(table);
  if (rows.empty()) return chart;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  ChartPanel panel{.lines = {{.at = 1.0, .is_upright = true}}, .has_values_along_x = true};
  ChartSeries bars{.mark = ChartMark::bars, .color = 1};
  double max = 0.0;
  for (const BarRow& row : rows)
    if (!row.may_leave) max = std::max({max, row.value, row.high.value_or(0.0)});
  for (const BarRow& row : rows) {
    bars.x.push_back(row.value);
    bars.y.push_back(static_cast<double>(panel.y.names.size()));
    bars.low.push_back(row.low.value_or(none));
    bars.high.push_back(row.high.value_or(none));
    bars.words << QStringLiteral("%1: %2").arg(row.name, row.numbers.join(u' '));
    panel.y.names << row.name;
  }
  // A thought experiment must not dwarf the others: its bar leaves the chart.
  constexpr double room = 1.5;
  chart.x.low = 0.0;
  chart.x.high = std::min(room * max, 1.05 * std::max(max, *std::ranges::max_element(bars.x)));
  panel.series.push_back(std::move(bars));
  chart.panels.push_back(std::move(panel));
  return chart;
}

Chart roofline_chart(const simulator::Roofline& roofline, const QString& name, ChartTable table) {
  Chart chart{.name = name, .x = {.label = chart_words("flop a byte"), .is_logarithmic = true}};
  chart.table = std::move(table);
  if (roofline.points.empty()) return chart;
  ChartPanel panel{.y = {.label = chart_words("Gflop/s"), .is_logarithmic = true}};
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const simulator::RooflinePoint& point : roofline.points) {
    const bool is_wide = point.rows > 1;
    const QString operation = QString::fromUtf8(speculation::operation_name(point.operation));
    const QString series_name =
        is_wide ? chart_words("%1, %2 rows").arg(operation).arg(point.rows) : operation;
    const auto color = 1 + static_cast<std::size_t>(point.operation);
    panel.series.push_back({.name = series_name,
                            .color = color,
                            .is_hollow = is_wide,
                            .x = {point.intensity()},
                            .y = {point.flops_per_ns()},
                            .words = {words_of(roofline, point)}});
    low = std::min(low, point.intensity());
    high = std::max(high, point.intensity());
  }
  constexpr double beyond = 3.0;
  ChartSeries roof{.name = roofline.is_specified ? chart_words("roof: specification")
                                                 : chart_words("roof: highest fitted"),
                   .mark = ChartMark::line,
                   .color = 0};
  std::vector<double> at{low / beyond, high * beyond};
  if (roofline.flops_per_ns) at.push_back(*roofline.flops_per_ns / roofline.bytes_per_ns);
  std::ranges::sort(at);
  for (const double intensity : at) {
    roof.x.push_back(intensity);
    roof.y.push_back(roofline.attainable(intensity));
  }
  panel.series.push_back(std::move(roof));
  chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace draftscope::gui
