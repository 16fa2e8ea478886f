// SPDX-License-Identifier: GPL-3.0-or-later
#include "confidence_chart.h"

#include <QCoreApplication>
#include <array>
#include <cmath>

namespace draftscope::gui {

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

}  // namespace draftscope::gui
