// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_chart.h"

#include <QCoreApplication>

namespace draftscope::gui {

namespace {

constexpr double skip_chart_ns_per_us = 1e3;

QString skip_tr(const char* words) {
  return QCoreApplication::translate("SkipMap", words);
}

Chart chart_by_layer(const QString& name) {
  Chart chart{.name = name, .x = {.label = skip_tr("layer"), .has_whole_numbers = true}};
  chart.table.columns << skip_tr("layer");
  return chart;
}

}  // namespace

Chart skip_chart(const std::vector<double>& shares) {
  Chart chart = chart_by_layer(skip_tr("Skipped layers"));
  chart.table.columns << skip_tr("attention skipped") << skip_tr("MLP skipped");
  if (shares.empty()) return chart;
  ChartPanel panel{.y = {.label = skip_tr("share of rounds that skipped it"), .low = -0.02, .high = 1.02}};
  panel.series = {{.name = skip_tr("attention"), .mark = ChartMark::line_with_points, .color = 1},
                  {.name = skip_tr("MLP"), .mark = ChartMark::line_with_points, .color = 2}};
  for (std::size_t layer = 0; 2 * layer + 1 < shares.size(); ++layer) {
    for (std::size_t part : {0U, 1U}) {
      panel.series[part].x.push_back(static_cast<double>(layer));
      panel.series[part].y.push_back(shares[2 * layer + part]);
    }
    chart.table.rows.push_back({static_cast<int>(layer), shares[2 * layer], shares[2 * layer + 1]});
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

Chart layer_time_chart(const std::vector<double>& per_round_ns) {
  Chart chart = chart_by_layer(skip_tr("Time per layer"));
  chart.table.columns << skip_tr("µs per round");
  if (per_round_ns.empty()) return chart;
  ChartPanel panel{.y = {.label = skip_tr("µs per round"), .low = 0.0}};
  ChartSeries& times = panel.series.emplace_back();
  times = {.mark = ChartMark::bars, .color = 1};
  for (std::size_t layer = 0; layer < per_round_ns.size(); ++layer) {
    times.x.push_back(static_cast<double>(layer));
    times.y.push_back(per_round_ns[layer] / skip_chart_ns_per_us);
    chart.table.rows.push_back({static_cast<int>(layer), times.y.back()});
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace draftscope::gui
