// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_text.h"

#include <QCoreApplication>

#include "what_if/questions/numbers_model.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::LadderRung;
using simulator::WaterfallLevel;
using simulator::WaterfallStep;

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

}  // namespace

std::vector<BarRow> ladder_rows(const simulator::Ladder& ladder) {
  std::vector<BarRow> rows;
  for (const LadderRung& rung : ladder) {
    BarRow& row = rows.emplace_back();
    row.name = QString::fromUtf8(simulator::rung_name(rung.rung));
    row.meaning = QString::fromUtf8(simulator::rung_meaning(rung.rung));
    row.value = rung.speedup;
    row.numbers = QStringList{QString(), speedup_text(rung.speedup)};
    row.is_marked = rung.rung == simulator::Rung::overhead;
    if (rung.rung == simulator::Rung::layer_count) continue;
    row.before = rung.speedup - rung.change;
    row.numbers = QStringList{signed_text(rung.change, 3), speedup_text(rung.speedup)};
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
    row.numbers = QStringList{speedup_text(step.speedup.value), percent_text(step.of_oracle.value, 0)};
    row.may_leave = step.level == WaterfallLevel::free_drafts || step.level == WaterfallLevel::perfect_drafts;
    row.is_marked = step.level == WaterfallLevel::oracle || step.level == WaterfallLevel::policy;
  }
  return rows;
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
    lines << QString::fromUtf8(unshared.reason);
  for (const std::string& note : simulator::waterfall_notes(levels.found, levels.batch))
    lines << QString::fromUtf8(note);
  return lines;
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
         is_answered ? QVariant(cell.speedup) : QVariant(), QString::fromUtf8(cell.refusal)});
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

}  // namespace draftscope::gui
