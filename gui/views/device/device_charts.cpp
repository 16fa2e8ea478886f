// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_charts.h"

#include <QCoreApplication>
#include <cmath>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr double ns_per_us = 1e3;
constexpr double ns_per_ms = 1e6;

QString device_tr(const char* words) {
  return QCoreApplication::translate("DeviceView", words);
}

/// Outline of a histogram over microseconds, down to 0 at both ends.
ChartSeries outline_of(const simulator::DurationHistogram& histogram, ChartMark mark, std::size_t color,
                       const QString& name) {
  ChartSeries series{.name = name, .mark = mark, .color = color};
  for (std::size_t edge = 0; edge < histogram.edges_ns.size(); ++edge) {
    const bool is_bin = edge < histogram.counts.size();
    series.x.push_back(histogram.edges_ns[edge] / ns_per_us);
    series.y.push_back(is_bin ? static_cast<double>(histogram.counts[edge]) : 0.0);
    series.words << (is_bin ? device_tr("%1 of %2 to %3")
                                  .arg(histogram.counts[edge])
                                  .arg(duration_text(std::llround(histogram.edges_ns[edge])),
                                       duration_text(std::llround(histogram.edges_ns[edge + 1])))
                            : QString());
  }
  return series;
}

bool is_wide(const simulator::DurationHistogram& histogram) {
  constexpr double wide = 20.0;
  return !histogram.edges_ns.empty() && histogram.edges_ns.front() > 0.0 &&
         histogram.edges_ns.back() > wide * histogram.edges_ns.front();
}

void add_rows(ChartTable& table, const simulator::DurationHistogram& histogram, const QString& of) {
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    table.rows.push_back({of, histogram.edges_ns[bin] / ns_per_us, histogram.edges_ns[bin + 1] / ns_per_us,
                          QVariant::fromValue<qlonglong>(histogram.counts[bin])});
}

Chart histogram_chart(const QString& name, const simulator::DurationHistogram& histogram,
                      const simulator::DurationHistogram* other) {
  Chart chart{.name = name, .x = {.label = device_tr("µs"), .is_logarithmic = is_wide(histogram)}};
  chart.table.columns =
      QStringList{device_tr("of"), device_tr("from, µs"), device_tr("to, µs"), device_tr("count")};
  if (histogram.counts.empty()) return chart;
  ChartPanel panel{.y = {.label = device_tr("count"), .has_whole_numbers = true, .low = 0.0}};
  const QString here = other == nullptr ? QString() : device_tr("here");
  panel.series.push_back(outline_of(histogram, ChartMark::filled_steps, 1, here));
  add_rows(chart.table, histogram, device_tr("here"));
  if (other != nullptr && !other->counts.empty()) {
    panel.series.push_back(outline_of(*other, ChartMark::steps_to_left, 2, device_tr("other run")));
    add_rows(chart.table, *other, device_tr("other run"));
    chart.x.is_logarithmic = chart.x.is_logarithmic && is_wide(*other);
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

/// Points of microseconds over a whole number, here and in another run.
Chart points_chart(const QString& name, const QString& along,
                   const std::vector<std::pair<std::int32_t, double>>& here,
                   const std::vector<std::pair<std::int32_t, double>>& other) {
  Chart chart{.name = name, .x = {.label = along, .has_whole_numbers = true}};
  chart.table.columns = QStringList{device_tr("of"), along, device_tr("µs")};
  if (here.empty()) return chart;
  ChartPanel panel{.y = {.label = device_tr("µs"), .low = 0.0}};
  std::size_t color = 1;
  for (const auto& [points, title] :
       {std::pair(&here, device_tr("here")), {&other, device_tr("other run")}}) {
    ChartSeries series{.name = other.empty() ? QString() : title,
                       .mark = points->size() > 60 ? ChartMark::line : ChartMark::line_with_points,
                       .color = color++};
    for (const auto& [at, ns] : *points) {
      series.x.push_back(at);
      series.y.push_back(ns / ns_per_us);
      series.words << QStringLiteral("%1 %2: %3").arg(along).arg(at).arg(duration_text(std::llround(ns)));
      chart.table.rows.push_back({title, at, ns / ns_per_us});
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

std::vector<std::pair<std::int32_t, double>> numbered(const NamedDurations* durations) {
  std::vector<std::pair<std::int32_t, double>> points;
  if (durations == nullptr) return points;
  points.reserve(durations->by_round.size());
  for (std::size_t round = 0; round < durations->by_round.size(); ++round)
    points.emplace_back(static_cast<std::int32_t>(round), durations->by_round[round]);
  return points;
}

}  // namespace

Chart gaps_chart(const DeviceAnswer& answer) {
  return histogram_chart(device_tr("Gaps by length"), answer.gap_histogram, nullptr);
}

Chart use_chart(const DeviceAnswer& answer) {
  Chart chart{.name = device_tr("Use over time"), .x = {.label = device_tr("ms")}};
  chart.table.columns = QStringList{device_tr("from, ms"), device_tr("busy")};
  if (answer.busy_shares.empty()) return chart;
  ChartPanel panel{.y = {.label = device_tr("busy"), .low = 0.0, .high = 1.02}};
  ChartSeries series{.mark = ChartMark::filled_steps, .color = 1};
  const double width = static_cast<double>(answer.whole.end_ns - answer.whole.start_ns) /
                       static_cast<double>(answer.busy_shares.size());
  for (std::size_t part = 0; part <= answer.busy_shares.size(); ++part) {
    const double from_ns = width * static_cast<double>(part);
    const double share = part < answer.busy_shares.size() ? answer.busy_shares[part] : 0.0;
    series.x.push_back(from_ns / ns_per_ms);
    series.y.push_back(share);
    series.words
        << device_tr("from %1: busy for %2").arg(duration_text(std::llround(from_ns)), percent_text(share));
    if (part < answer.busy_shares.size()) chart.table.rows.push_back({from_ns / ns_per_ms, share});
  }
  panel.series.push_back(std::move(series));
  chart.panels.push_back(std::move(panel));
  return chart;
}

Chart durations_chart(const QString& name, const NamedDurations& durations, const NamedDurations* other) {
  return histogram_chart(device_tr("%1: open times").arg(name), durations.histogram,
                         other == nullptr ? nullptr : &other->histogram);
}

Chart layers_chart(const QString& name, const NamedDurations& durations, const NamedDurations* other) {
  return points_chart(device_tr("%1: median by layer").arg(name), device_tr("layer"), durations.by_layer,
                      other == nullptr ? std::vector<std::pair<std::int32_t, double>>{} : other->by_layer);
}

Chart rounds_chart(const QString& name, const NamedDurations& durations, const NamedDurations* other) {
  return points_chart(device_tr("%1: mean by round").arg(name), device_tr("round in order of time"),
                      numbered(&durations), numbered(other));
}

}  // namespace draftscope::gui
