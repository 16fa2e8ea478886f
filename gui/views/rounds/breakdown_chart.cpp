// SPDX-License-Identifier: GPL-3.0-or-later
#include "breakdown_chart.h"

#include <QCoreApplication>

namespace draftscope::gui {

namespace {

/// Max columns that a two-column figure can distinguish.
constexpr int max_columns = 300;
constexpr double breakdown_ns_per_ms = 1e6;

QString breakdown_tr(const char* words) {
  return QCoreApplication::translate("BreakdownView", words);
}

}  // namespace

Chart breakdown_chart(
    const RoundAxis& axis, const QStringList& parts,
    const std::function<std::vector<std::int64_t>(std::size_t first, std::size_t last)>& sum,
    const std::function<std::uint32_t(std::size_t place)>& number) {
  Chart chart{.name = breakdown_tr("Breakdown of the rounds' time"),
              .x = {.label = breakdown_tr("round of the run"), .has_whole_numbers = true}};
  chart.table.columns = QStringList{breakdown_tr("from round"), breakdown_tr("rounds")};
  if (axis.count() == 0) return chart;
  const std::vector<std::int64_t> whole = sum(axis.first, axis.last);
  ChartPanel panel{.y = {.label = breakdown_tr("ms per round"), .low = 0.0}};
  std::vector<std::size_t> shown;
  for (std::size_t part = 0; part < whole.size(); ++part) {
    if (whole[part] <= 0) continue;
    shown.push_back(part);
    const QString& name = parts[static_cast<qsizetype>(part)];
    panel.series.push_back({.name = name, .mark = ChartMark::filled_steps, .color = shown.size()});
    chart.table.columns << breakdown_tr("%1, ms").arg(name);
  }
  const RoundAxis narrow{axis.first, axis.last, 0,
                         static_cast<int>(std::min<std::size_t>(axis.count(), max_columns))};
  const std::vector<RoundColumn> columns = round_columns(narrow);
  for (const RoundColumn& column : columns) {
    const std::vector<std::int64_t> times = sum(column.first, column.last);
    std::vector<QVariant>& row = chart.table.rows.emplace_back();
    row.emplace_back(number(column.first));
    row.emplace_back(static_cast<int>(column.count()));
    double below = 0.0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const double ms =
          static_cast<double>(times[shown[i]]) / static_cast<double>(column.count()) / breakdown_ns_per_ms;
      below += ms;
      row.emplace_back(ms);
      panel.series[i].x.push_back(number(column.first));
      panel.series[i].y.push_back(below);
    }
  }
  // The last column must be as wide as its rounds.
  for (ChartSeries& series : panel.series) {
    series.x.push_back(number(columns.back().last - 1) + 1.0);
    series.y.push_back(series.y.back());
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace draftscope::gui
