// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_charts.h"

#include <QCoreApplication>
#include <array>
#include <cmath>

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

namespace {

/// Max points that a figure can distinguish.
constexpr std::uint32_t max_points = 5000;
constexpr int max_chart_columns = 300;
/// Min rounds that the acceptance rate is taken over.
constexpr std::size_t rate_window = 20;

QString confidence_tr(const char* words) {
  return QCoreApplication::translate("ConfidenceView", words);
}

std::array<QString, draft_fates> fate_names() {
  return {confidence_tr("accepted"), confidence_tr("rejected"), confidence_tr("not tested")};
}

/// Makes one series per fate, in green, orange and grey of the palette; untested ones are hollow.
std::vector<ChartSeries> fate_series(ChartMark mark) {
  constexpr std::array<std::size_t, draft_fates> colors{3, 2, 0};
  std::vector<ChartSeries> all;
  for (std::size_t fate = 0; fate < draft_fates; ++fate)
    all.push_back({.name = fate_names()[fate], .mark = mark, .color = colors[fate], .is_hollow = fate == 2});
  return all;
}

void add_points(const DraftConfidences& drafts, const RoundAxis& axis,
                const std::function<std::uint32_t(std::size_t)>& number, std::vector<ChartSeries>& series,
                ChartTable& table) {
  table.columns = QStringList{confidence_tr("round"), confidence_tr("draft position"),
                              confidence_tr("confidence"), confidence_tr("fate")};
  for (std::size_t place = axis.first; place < axis.last; ++place)
    for (std::uint32_t token = drafts.first[place]; token < drafts.first[place + 1]; ++token) {
      const double confidence = drafts.confidence[token];
      if (std::isnan(confidence)) continue;
      const auto fate = static_cast<std::size_t>(drafts.fate[token]);
      const std::uint32_t position = token - drafts.first[place];
      const double count = drafts.first[place + 1] - drafts.first[place];
      series[fate].x.push_back(number(place) + (position + 0.5) / count);
      series[fate].y.push_back(confidence);
      table.rows.push_back({number(place), position, confidence, fate_names()[fate]});
    }
}

void add_means(const DraftConfidences& drafts, const std::vector<RoundColumn>& columns,
               const std::function<std::uint32_t(std::size_t)>& number, std::vector<ChartSeries>& series,
               ChartTable& table) {
  table.columns = QStringList{confidence_tr("from round"), confidence_tr("rounds")};
  for (const QString& name : fate_names()) table.columns << confidence_tr("mean confidence, %1").arg(name);
  for (const RoundColumn& column : columns) {
    std::array<double, draft_fates> sum{};
    std::array<double, draft_fates> count{};
    for (std::uint32_t token = drafts.first[column.first]; token < drafts.first[column.last]; ++token) {
      if (std::isnan(drafts.confidence[token])) continue;
      sum[static_cast<std::size_t>(drafts.fate[token])] += drafts.confidence[token];
      ++count[static_cast<std::size_t>(drafts.fate[token])];
    }
    std::vector<QVariant>& row = table.rows.emplace_back();
    row.emplace_back(number(column.first));
    row.emplace_back(static_cast<int>(column.count()));
    for (std::size_t fate = 0; fate < draft_fates; ++fate) {
      row.push_back(count[fate] > 0.0 ? QVariant(sum[fate] / count[fate]) : QVariant());
      if (count[fate] == 0.0) continue;
      series[fate].x.push_back(number(column.first));
      series[fate].y.push_back(sum[fate] / count[fate]);
    }
  }
}

}  // namespace

Chart confidence_chart(const DraftConfidences& drafts, const RoundAxis& axis,
                       const std::function<std::uint32_t(std::size_t place)>& number) {
  Chart chart{.name = confidence_tr("Confidence of drafted tokens"),
              .x = {.label = confidence_tr("round of the run"), .has_whole_numbers = true}};
  if (axis.count() == 0 || drafts.confidence.empty()) return chart;
  const std::vector<RoundColumn> columns = round_columns(
      {axis.first, axis.last, 0, static_cast<int>(std::min<std::size_t>(axis.count(), max_chart_columns))});
  const bool has_points = drafts.first[axis.last] - drafts.first[axis.first] <= max_points;
  ChartPanel above{.y = {.label = confidence_tr(has_points ? "confidence" : "mean confidence"),
                         .low = -0.02,
                         .high = 1.02},
                   .series = fate_series(has_points ? ChartMark::points : ChartMark::line),
                   .share = 2};
  if (has_points)
    add_points(drafts, axis, number, above.series, chart.table);
  else
    add_means(drafts, columns, number, above.series, chart.table);
  ChartSeries threshold{
      .name = confidence_tr("draft-exit threshold"), .mark = ChartMark::steps_to_left, .color = 4};
  ChartSeries rate{.mark = ChartMark::line, .color = 3};
  for (const RoundColumn& column : columns) {
    const ValueSummary values = drafts.threshold.summarise(column.first, column.last);
    if (values.values > 0) {
      threshold.x.push_back(number(column.first));
      threshold.y.push_back(values.mean());
    }
    const std::size_t middle = (column.first + column.last) / 2;
    const std::size_t half = std::max(rate_window, column.count()) / 2;
    const double value =
        drafts.acceptance_rate(middle > half ? middle - half : 0, std::min(drafts.rounds(), middle + half));
    if (std::isnan(value)) continue;
    rate.x.push_back(number(column.first));
    rate.y.push_back(value);
  }
  if (!threshold.x.empty()) above.series.push_back(std::move(threshold));
  ChartPanel below{.y = {.label = confidence_tr("α"), .low = 0.0, .high = 1.02}, .series = {rate}};
  chart.panels = {std::move(above), std::move(below)};
  return chart;
}

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
