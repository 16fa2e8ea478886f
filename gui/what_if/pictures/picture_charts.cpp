// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_charts.h"

#include <QCoreApplication>
#include <algorithm>
#include <limits>
#include <tuple>

#include "models/numbers_model.h"
#include "widgets/plot_style.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::LadderRung;
using simulator::RooflinePoint;
using simulator::WaterfallLevel;
using simulator::WaterfallStep;

constexpr std::size_t max_named_exits = 40;    // More numbers would touch each other.
constexpr std::size_t max_named_lengths = 10;  // More numbers would need too high a chart.

/// A speedup as a bar, with the text beside its name.
struct BarRow {
  QString name;
  QString meaning;
  double value = 0.0;
  std::optional<double> low, high;  ///< Ends of the interval.
  QStringList numbers;
  bool may_leave = false;  ///< A hypothetical bar; it may leave the chart, which is scaled for the others.
  bool is_marked = false;  ///< Drawn in another colour.

  [[nodiscard]] QString label() const {
    return QStringLiteral("%1: %2").arg(name, numbers.join(QStringLiteral(", ")));
  }
};

QString tr(const char* words) {
  return QCoreApplication::translate("WhatIfView", words);
}

QString level_meaning(WaterfallLevel level) {
  switch (level) {
    case WaterfallLevel::vanilla:
      return tr("one token a pass");
    case WaterfallLevel::best_global:
      return tr("one exit and length for all requests");
    case WaterfallLevel::best_by_category:
      return tr("one for each category of prompts");
    case WaterfallLevel::best_by_request:
      return tr("one for each request, in hindsight");
    case WaterfallLevel::policy:
      return tr("the strategy that is asked about");
    case WaterfallLevel::single_threshold:
      return tr("one exit and confidence threshold, chosen on other requests");
    case WaterfallLevel::causal_rule:
      return tr("the best rule on confidences, fitted on other requests");
    case WaterfallLevel::oracle_length:
      return tr("clairvoyant lengths");
    case WaterfallLevel::oracle_exit:
      return tr("clairvoyant exits");
    case WaterfallLevel::oracle:
      return tr("clairvoyant exits and lengths: the bound");
    case WaterfallLevel::free_drafts:
      return tr("the bound if draft steps took no time");
    case WaterfallLevel::perfect_drafts:
      return tr("the bound if every draft token were accepted");
  }
  return {};
}

QVariant end_of(const std::optional<simulator::Interval>& interval, bool low) {
  return interval ? QVariant(low ? interval->low : interval->high) : QVariant();
}

std::vector<BarRow> ladder_rows(const simulator::Ladder& ladder) {
  std::vector<BarRow> rows;
  for (const LadderRung& rung : ladder) {
    BarRow& row = rows.emplace_back();
    row.name = QString::fromUtf8(simulator::rung_name(rung.rung));
    row.meaning = QString::fromUtf8(simulator::rung_meaning(rung.rung));
    row.value = rung.speedup;
    row.numbers = QStringList{speedup_text(rung.speedup)};
    row.is_marked = rung.rung == ladder.back().rung;
    if (rung.rung == simulator::Rung::layer_count) continue;
    row.numbers.prepend(signed_text(rung.change, 3));
  }
  return rows;
}

ChartTable ladder_numbers(const simulator::Ladder& ladder) {
  ChartTable numbers{{tr("rung"), tr("meaning"), tr("speedup"), tr("change"), tr("factor"), tr("share")}, {}};
  for (const LadderRung& rung : ladder)
    numbers.rows.push_back({QString::fromUtf8(simulator::rung_name(rung.rung)),
                            QString::fromUtf8(simulator::rung_meaning(rung.rung)), rung.speedup, rung.change,
                            rung.factor,
                            rung.rung == simulator::Rung::layer_count ? QVariant() : variant_of(rung.share)});
  return numbers;
}

std::vector<BarRow> waterfall_rows(const WaterfallLevels& levels) {
  std::vector<BarRow> rows;
  for (const WaterfallStep& step : levels.found.waterfall.steps) {
    BarRow& row = rows.emplace_back();
    row.name = QString::fromUtf8(simulator::waterfall_level_name(step.level));
    row.meaning = level_meaning(step.level);
    row.value = step.speedup.value;
    if (step.speedup.interval) {
      row.low = step.speedup.interval->low;
      row.high = step.speedup.interval->high;
    }
    row.numbers = QStringList{speedup_text(step.speedup.value),
                              tr("%1 of oracle").arg(percent_text(step.of_oracle.value, 0))};
    row.may_leave = step.level == WaterfallLevel::free_drafts || step.level == WaterfallLevel::perfect_drafts;
    row.is_marked = step.level == WaterfallLevel::oracle || step.level == WaterfallLevel::policy;
  }
  return rows;
}

ChartTable waterfall_numbers(const WaterfallLevels& levels) {
  ChartTable numbers{{tr("level"), tr("rounds"), tr("speedup"), tr("95 % from"), tr("to"), tr("of oracle"),
                      tr("efficiency")},
                     {}};
  for (const WaterfallStep& step : levels.found.waterfall.steps)
    numbers.rows.push_back({QString::fromUtf8(simulator::waterfall_level_name(step.level)),
                            QString::fromUtf8(simulator::answer_status_name(step.status)), step.speedup.value,
                            end_of(step.speedup.interval, true), end_of(step.speedup.interval, false),
                            step.of_oracle.value,
                            step.efficiency ? QVariant(step.efficiency->value) : QVariant()});
  return numbers;
}

ChartTable heat_map_numbers(const HeatMap& map) {
  ChartTable numbers{{tr("exit"), tr("gamma"), tr("strategy"), tr("rounds"), tr("speedup"), tr("no answer")},
                     {}};
  for (const HeatCell& cell : map.cells) {
    const bool is_answered = cell.refusal.empty();
    numbers.rows.push_back(
        {cell.exit, cell.gamma, QString::fromUtf8(cell.strategy),
         is_answered ? QVariant(QString::fromUtf8(simulator::answer_status_name(cell.status))) : QVariant(),
         is_answered ? QVariant(cell.speedup) : QVariant(), sentence_text(cell.refusal)});
  }
  return numbers;
}

ChartTable roofline_numbers(const simulator::Roofline& roofline) {
  ChartTable numbers{{tr("operation"), tr("rows"), tr("flop"), tr("bytes"), tr("ns"), tr("flop a byte"),
                      tr("Gflop/s"), tr("attainable Gflop/s")},
                     {}};
  for (const simulator::RooflinePoint& point : roofline.points)
    numbers.rows.push_back({QString::fromUtf8(speculation::operation_name(point.operation)), point.rows,
                            point.flops, point.bytes, point.ns, point.intensity(), point.flops_per_ns(),
                            roofline.attainable(point.intensity())});
  return numbers;
}

/// Bars of one colour: the marked ones, or the others.
ChartSeries bars_of(const std::vector<BarRow>& rows, bool is_marked) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  ChartSeries bars{.mark = ChartMark::bars, .color = is_marked ? 2U : 1U};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BarRow& row = rows[i];
    if (row.is_marked != is_marked) continue;
    bars.x.push_back(row.value);
    bars.y.push_back(static_cast<double>(i));
    bars.low.push_back(row.low.value_or(none));
    bars.high.push_back(row.high.value_or(none));
    bars.words << row.label() + u'\n' + row.meaning;
  }
  return bars;
}

Chart bars_chart(const std::vector<BarRow>& rows, const QString& name, ChartTable table) {
  Chart chart{.name = name, .x = {.label = tr("speedup")}, .panels = {}, .table = std::move(table)};
  if (rows.empty()) return chart;
  ChartPanel panel{.lines = {{.at = 1.0, .is_upright = true}}, .has_values_along_x = true};
  double max = 0.0;
  double longest = 0.0;
  for (const BarRow& row : rows) {
    longest = std::max(longest, row.value);
    if (!row.may_leave) max = std::max({max, row.value, row.high.value_or(0.0)});
    panel.y.names << row.label();
  }
  // A hypothetical bar must not dwarf the others, so it may leave the chart.
  constexpr double room = 1.5;
  chart.x.low = 0.0;
  chart.x.high = std::min(room * max, 1.05 * std::max(max, longest));
  for (const bool is_marked : {false, true})
    if (ChartSeries bars = bars_of(rows, is_marked); !bars.x.empty()) panel.series.push_back(std::move(bars));
  chart.panels.push_back(std::move(panel));
  return chart;
}

QString cell_words(const HeatCell& cell) {
  const QString strategy = QString::fromUtf8(cell.strategy);
  if (!cell.refusal.empty()) return tr("%1: no answer\n%2").arg(strategy, sentence_text(cell.refusal));
  return tr("%1: %2 (%3 rounds)")
      .arg(strategy, speedup_text(cell.speedup),
           QString::fromUtf8(simulator::answer_status_name(cell.status)));
}

/// Words like "qkv, 5 rows: 12.3 of 18.0 Gflop/s attainable".
QString point_words(const simulator::Roofline& roofline, const RooflinePoint& point) {
  return tr("%1, %2: %3 of %4 Gflop/s attainable")
      .arg(QString::fromUtf8(speculation::operation_name(point.operation)),
           counted(point.rows, tr("1 row"), tr("%1 rows")), number_text(point.flops_per_ns()),
           number_text(roofline.attainable(point.intensity())));
}

ChartSeries point_series(const simulator::Roofline& roofline, const RooflinePoint& point) {
  const bool is_wide = point.rows > 1;
  QString name = QString::fromUtf8(speculation::operation_name(point.operation));
  if (is_wide) name = tr("%1, %2 rows").arg(name).arg(point.rows);
  if (point.source != simulator::ParameterSource::trace && !roofline.is_specified)
    name = tr("%1 (time not determined)").arg(name);
  return {.name = name,
          .color = 1 + static_cast<std::size_t>(point.operation),
          .is_hollow = is_wide,
          .x = {point.intensity()},
          .y = {point.flops_per_ns()},
          .words = {point_words(roofline, point)}};
}

QString roof_name(const simulator::Roofline& roofline) {
  return tr("%1: %2 GB/s, %3")
      .arg(roofline.is_specified ? tr("roof: specification") : tr("roof: highest fitted"),
           number_text(roofline.bytes_per_ns),
           roofline.flops_per_ns ? tr("%1 Gflop/s").arg(number_text(*roofline.flops_per_ns))
                                 : tr("no ceiling was reached"));
}

}  // namespace

Chart ladder_chart(const simulator::Ladder& ladder) {
  return bars_chart(ladder_rows(ladder), tr("Correction ladder"), ladder_numbers(ladder));
}

Chart waterfall_chart(const WaterfallLevels& levels) {
  return bars_chart(waterfall_rows(levels), tr("Waterfall to the oracle"), waterfall_numbers(levels));
}

QStringList waterfall_footnotes(const WaterfallLevels& levels) {
  QStringList lines;
  for (const simulator::NamedGap& gap : simulator::named_gaps(levels.found.waterfall.gaps))
    lines << tr("%1 gap %2: %3")
                 .arg(QString::fromUtf8(gap.name), signed_text(gap.figure.value, 2),
                      QString::fromUtf8(simulator::gap_meaning(gap.name)));
  for (const simulator::StrategyShare& share : levels.found.strategies)
    lines << tr("%1: %2, %3 of the oracle%4")
                 .arg(QString::fromUtf8(share.strategy), speedup_text(share.speedup),
                      percent_text(share.of_oracle.value, 0),
                      share.is_bounded
                          ? QString()
                          : QStringLiteral(" (%1)").arg(QString::fromUtf8(simulator::no_bound_note())));
  for (const simulator::UnsharedStrategy& unshared : levels.found.unshared)
    lines << sentence_text(unshared.reason);
  for (const std::string& note : simulator::waterfall_notes(levels.found, levels.batch))
    lines << sentence_text(note);
  return lines;
}

Chart heat_map_chart(const HeatMap& map, const QString& name, const std::vector<RecordedPoint>& recorded,
                     double min_scale_limit) {
  Chart chart{.name = name,
              .x = {.label = tr("exit layer E of the recorded model")},
              .panels = {},
              .table = heat_map_numbers(map)};
  ChartPanel panel{.y = {.label = tr("draft length γ")}};
  // If there are too many values, only every few have their number.
  const auto number = [](std::int32_t value, bool are_many, int apart) {
    return !are_many || value % apart == 0 ? QString::number(value) : QString();
  };
  const HeatAxes axes = map.answered();
  for (const std::int32_t exit : axes.exits)
    chart.x.names << number(exit, axes.exits.size() > max_named_exits, 5);
  for (const std::int32_t gamma : axes.lengths)
    panel.y.names << number(gamma, axes.lengths.size() > max_named_lengths, 2);
  const HeatCell* best = map.best();
  chart.scale_limit = std::max(min_scale_limit, scale_limit_for(1.0));
  for (const HeatCell& of : map.cells) {
    const auto place = axes.place_of(of.exit, of.gamma);
    if (!place) continue;
    ChartCell& cell = panel.cells.emplace_back();
    std::tie(cell.column, cell.row) = *place;
    cell.is_marked = &of == best;
    cell.words = cell_words(of);
    if (cell.is_marked) cell.words += tr("\nthe fastest of these cells");
    if (!of.refusal.empty()) continue;
    cell.speedup = of.speedup;
    cell.text = QString::number(of.speedup, 'f', 2);
    chart.scale_limit = std::max(chart.scale_limit, scale_limit_for(of.speedup));
  }
  // Place the ring beside the cell's number.
  constexpr double aside = 0.36;
  ChartSeries rings{.name = tr("recorded"), .color = 0, .is_hollow = true};
  for (const RecordedPoint& point : recorded) {
    const auto place = axes.place_of(point.exit, point.gamma);
    if (!place) continue;
    rings.x.push_back(place->first - aside);
    rings.y.push_back(place->second);
    rings.words << tr("recorded: %1").arg(QString::fromUtf8(point.strategy));
    for (ChartCell& cell : panel.cells)
      if (std::pair(cell.column, cell.row) == *place) cell.words += u'\n' + rings.words.back();
  }
  if (!rings.x.empty()) panel.series.push_back(std::move(rings));
  if (!panel.cells.empty()) chart.panels.push_back(std::move(panel));
  return chart;
}

Chart roofline_chart(const simulator::Roofline& roofline) {
  Chart chart{.name = tr("Roofline"),
              .x = {.label = tr("arithmetic intensity, flop a byte"), .is_logarithmic = true},
              .panels = {},
              .table = roofline_numbers(roofline)};
  if (roofline.points.empty() || !(roofline.bytes_per_ns > 0.0)) return chart;
  ChartPanel panel{.y = {.label = tr("Gflop/s"), .is_logarithmic = true}};
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const RooflinePoint& point : roofline.points) {
    panel.series.push_back(point_series(roofline, point));
    low = std::min(low, point.intensity());
    high = std::max(high, point.intensity());
  }
  constexpr double beyond = 3.0;
  ChartSeries roof{.name = roof_name(roofline), .mark = ChartMark::line, .color = 0};
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
