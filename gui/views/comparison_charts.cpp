// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison_charts.h"

#include <QCoreApplication>
#include <algorithm>
#include <limits>

#include "widgets/plot_style.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

QString chart_tr(const char* words) {
  return QCoreApplication::translate("CompareView", words);
}

QString ratio_words(const simulator::Speedup& ratio) {
  QString words = speedup_text(ratio.value);
  words += ratio.interval ? chart_tr(" (95 % %1)").arg(range_text(ratio.interval->low, ratio.interval->high))
                          : chart_tr(" (no interval: that takes six prompts)");
  return words +
         counted(static_cast<std::int64_t>(ratio.prompts), chart_tr(", 1 prompt"), chart_tr(", %1 prompts"));
}

QVariant end_of(const std::optional<simulator::Interval>& interval, bool is_low) {
  return interval ? QVariant(is_low ? interval->low : interval->high) : QVariant();
}

QString specification_of(const ComparedRun& run) {
  return QString::fromStdString(run.row().specification);
}

QString category_name(const std::string& category) {
  return category.empty() ? chart_tr("all prompts") : QString::fromStdString(category);
}

const CategoryWinner* winner_of(const AllRuns& all, const std::string& category) {
  for (const CategoryWinner& winner : all.winners)
    if (winner.category == category) return &winner;
  return nullptr;
}

const simulator::Speedup* gain_of(const RunStanding& standing, const std::string& category) {
  for (const CategoryGain& gain : standing.by_category)
    if (gain.category == category) return &gain.ratio;
  return nullptr;
}

std::vector<std::string> columns_of(const AllRuns& all) {
  std::vector<std::string> columns{std::string()};
  columns.insert(columns.end(), all.categories.begin(), all.categories.end());
  return columns;
}

ChartCell cell_of(const AllRuns& all, std::size_t run, const std::string& category) {
  const RunStanding& standing = all.runs[run];
  ChartCell cell;
  const CategoryWinner* winner = winner_of(all, category);
  cell.is_marked = winner != nullptr && winner->run == run;
  cell.is_uncertain = cell.is_marked && !winner->is_clear;
  const QString name = QStringLiteral("%1, %2: ").arg(standing_name(all, run), category_name(category));
  if (standing.is_baseline) {
    cell.speedup = 1.0;
    cell.words = name + chart_tr("the baseline, 1×");
  } else if (const simulator::Speedup* gain = gain_of(standing, category)) {
    cell.speedup = gain->value;
    cell.words = name + ratio_words(*gain);
  } else {
    cell.words = name + chart_tr("no prompt of both");
  }
  // The note says what the numbers are.
  if (cell.speedup) cell.text = speedup_text(*cell.speedup).remove(u'×');
  if (cell.is_marked)
    cell.words += winner->is_clear ? chart_tr("\nthe fastest here, beyond chance")
                                   : chart_tr("\nthe fastest here, but its lead over the next may be chance");
  return cell;
}

}  // namespace

QString standing_name(const AllRuns& all, std::size_t run) {
  const ComparedRun& of = all.runs[run].run;
  const bool is_one_file = std::ranges::all_of(
      all.runs, [&](const RunStanding& other) { return other.run.recording == of.recording; });
  return is_one_file ? specification_of(of)
                     : QStringLiteral("%1 (%2)").arg(specification_of(of),
                                                     QString::fromStdString(of.recording->name()));
}

Chart forest_chart(const AllRuns& all, const std::vector<ComparedRun>& compared) {
  Chart chart{.name = chart_tr("Speedup of all runs"),
              .x = {.label = chart_tr("tokens/s over the baseline's")}};
  chart.table.columns = QStringList{chart_tr("run"),     chart_tr("ratio"),   chart_tr("95 % from"),
                                    chart_tr("95 % to"), chart_tr("prompts"), chart_tr("faster prompts")};
  if (all.runs.size() < 2) return chart;
  ChartPanel panel{.lines = {{.at = 1.0, .is_upright = true}}, .has_values_along_x = true};
  const std::vector<std::size_t> colors = run_colors(compared);
  // The baseline, and runs that are not compared, are hollow and grey.
  panel.series.push_back({.mark = ChartMark::points, .color = 0, .is_hollow = true});
  for (const std::size_t color : colors) panel.series.push_back({.mark = ChartMark::points, .color = color});
  for (std::size_t run = 0; run < all.runs.size(); ++run) {
    const RunStanding& standing = all.runs[run];
    const QString name = standing_name(all, run);
    panel.y.names << name;
    const auto place = static_cast<std::size_t>(std::ranges::find(compared, standing.run) - compared.begin());
    const bool is_compared = place < compared.size() && !standing.is_baseline;
    ChartSeries& series = panel.series[is_compared ? place + 1 : 0];
    series.x.push_back(standing.is_baseline ? 1.0 : standing.ratio->value);
    series.y.push_back(static_cast<double>(run));
    if (standing.is_baseline) {
      series.low.push_back(no_number);
      series.high.push_back(no_number);
      series.words << chart_tr("%1: the baseline").arg(name);
      chart.table.rows.push_back({name, 1.0, {}, {}, {}, {}});
      continue;
    }
    const simulator::Speedup& ratio = *standing.ratio;
    series.low.push_back(ratio.interval ? ratio.interval->low : no_number);
    series.high.push_back(ratio.interval ? ratio.interval->high : no_number);
    series.words << QStringLiteral("%1: %2").arg(name, ratio_words(ratio));
    const auto faster =
        std::ranges::count_if(standing.by_prompt, [](const PromptGain& of) { return of.ratio > 1.0; });
    chart.table.rows.push_back({name, ratio.value, end_of(ratio.interval, true),
                                end_of(ratio.interval, false), static_cast<int>(ratio.prompts),
                                static_cast<int>(faster)});
  }
  std::erase_if(panel.series, [](const ChartSeries& series) { return series.x.empty(); });
  chart.panels.push_back(std::move(panel));
  return chart;
}

Chart category_chart(const AllRuns& all) {
  Chart chart{.name = chart_tr("Which wins where")};
  const std::vector<std::string> columns = columns_of(all);
  chart.table.columns << chart_tr("run");
  for (const std::string& column : columns) chart.table.columns << category_name(column);
  if (all.runs.size() < 2) return chart;
  ChartPanel panel;
  double limit = 1.0;
  for (const std::string& column : columns) chart.x.names << category_name(column);
  for (std::size_t run = 0; run < all.runs.size(); ++run) {
    panel.y.names << standing_name(all, run);
    std::vector<QVariant>& row = chart.table.rows.emplace_back();
    row.emplace_back(standing_name(all, run));
    for (std::size_t column = 0; column < columns.size(); ++column) {
      ChartCell cell = cell_of(all, run, columns[column]);
      cell.column = static_cast<int>(column);
      cell.row = static_cast<int>(run);
      row.push_back(cell.speedup ? QVariant(*cell.speedup) : QVariant());
      if (cell.speedup) limit = std::max(limit, scale_limit_for(*cell.speedup));
      panel.cells.push_back(std::move(cell));
    }
  }
  chart.scale_limit = std::max(limit, scale_limit_for(1.0));
  chart.note = chart_tr(
      "Speedup over the baseline. Framed: the fastest on these prompts. Dashed: its lead over the next "
      "may be chance.");
  chart.panels.push_back(std::move(panel));
  return chart;
}

const RunStanding* standing_of_series(const AllRuns& all, const std::vector<ComparedRun>& runs,
                                      std::size_t series) {
  std::size_t at = 0;
  for (const ComparedRun& run : runs)
    for (const RunStanding& standing : all.runs)
      if (standing.run == run && !standing.by_prompt.empty() && at++ == series) return &standing;
  return nullptr;
}

Chart prompts_chart(const AllRuns& all, const std::vector<ComparedRun>& runs) {
  Chart chart{.name = chart_tr("Gain by prompt"),
              .x = {.label = chart_tr("prompts, by gain"), .has_whole_numbers = true}};
  chart.table.columns =
      QStringList{chart_tr("run"), chart_tr("place"), chart_tr("prompt"), chart_tr("ratio")};
  ChartPanel panel{.y = {.label = chart_tr("tokens/s over the baseline's")}, .lines = {{.at = 1.0}}};
  const std::vector<std::size_t> colors = run_colors(runs);
  for (std::size_t series = 0;; ++series) {
    const RunStanding* standing = standing_of_series(all, runs, series);
    if (standing == nullptr) break;
    const auto color =
        colors[static_cast<std::size_t>(std::ranges::find(runs, standing->run) - runs.begin())];
    ChartSeries& line = panel.series.emplace_back();
    line = {.name = standing_name(all, static_cast<std::size_t>(standing - all.runs.data())),
            .mark = ChartMark::points,
            .color = color};
    for (std::size_t place = 0; place < standing->by_prompt.size(); ++place) {
      const PromptGain& gain = standing->by_prompt[place];
      line.x.push_back(static_cast<double>(place + 1));
      line.y.push_back(gain.ratio);
      line.words << chart_tr("%1\n%2: %3; Return or a click replays it")
                        .arg(line.name, QString::fromStdString(gain.title), speedup_text(gain.ratio));
      chart.table.rows.push_back(
          {line.name, static_cast<int>(place + 1), QString::fromStdString(gain.title), gain.ratio});
    }
  }
  if (!panel.series.empty()) chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace draftscope::gui
