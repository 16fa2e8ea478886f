// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison_model.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/traces/missing_data.h>
#include <QGuiApplication>
#include <algorithm>
#include <limits>

#include "models/column_text.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

using simulator::FigureFormat;
using simulator::FigureValue;

const simulator::Figures& figures_of(const ComparedRun& run) {
  return run.recording->measured().figures.runs[run.run].all;
}

/// The overview's acceptance: of a step, since every node of a tree counts in the other. Imported files have
/// only that.
std::string_view acceptance_key(const RunsComparison& comparison) {
  const bool is_imported = std::ranges::any_of(comparison.runs, [](const RunAgainstBaseline& of) {
    return traces::is_imported(of.run.recording->recording().meta);
  });
  return is_imported ? "acceptance_rate" : "step_acceptance";
}

template <typename Source>
ColumnText text_of(const simulator::FigureOf<Source>& figure) {
  return column_text(figure.title, figure.explanation);
}

}  // namespace

/// One per column, in the order of Column.
std::vector<ComparisonModel::Shown> ComparisonModel::columns_of(const RunsComparison& comparison) {
  const auto measured = [](std::string_view key) {
    const simulator::MeasuredFigure& figure = simulator::measured_figure(key);
    return Shown{text_of(figure), figure.format,
                 [&figure](const RunAgainstBaseline& of) { return figure.get(figures_of(of.run)); }};
  };
  const std::string_view acceptance_is = acceptance_key(comparison);
  Shown acceptance = measured(acceptance_is);
  if (acceptance_is == "step_acceptance") acceptance.words.title = column_text("accepted per step", {}).title;
  const auto& same_text = simulator::identity_figure("same_text");
  return {
      {{tr("run"), tr("Strategy, and the recording that it is of")}},
      measured("tokens_per_second"),
      {{tr("ratio"), tr("To the baseline, on the prompts of both")},
       FigureFormat::factor,
       [](const RunAgainstBaseline& of) { return of.ratio ? FigureValue(of.ratio->value) : FigureValue(); }},
      {text_of(simulator::ratio_figure("interval_95")), FigureFormat::interval,
       [](const RunAgainstBaseline& of) {
         return of.ratio ? simulator::figure_value(of.ratio->interval) : FigureValue();
       }},
      {{tr("faster on"), tr("Prompts on which it had more tokens a second than the baseline")},
       FigureFormat::number,
       [](const RunAgainstBaseline& of) {
         return of.prompts > 0 ? FigureValue(static_cast<std::int64_t>(of.faster_prompts)) : FigureValue();
       }},
      {{tr("p, corrected"),
        tr("How often prompts would lean to one side this far, or farther, if each were as likely to be "
           "faster as slower: signed-rank test over prompts, corrected for the number of runs. Every "
           "prompt counts by the rank of its gain, in the ratio and its interval by its time: the two "
           "can disagree")},
       FigureFormat::p_value,
       [](const RunAgainstBaseline& of) { return simulator::figure_value(of.adjusted_p_value); }},
      measured("mean_accepted_length"),
      std::move(acceptance),
      {text_of(same_text), FigureFormat::match, [&same_text](const RunAgainstBaseline& of) {
         return of.identity ? same_text.get(*of.identity) : FigureValue();
       }}};
}

void ComparisonModel::set_comparison(RunsComparison comparison) {
  beginResetModel();
  std::vector<ComparedRun> runs;
  runs.reserve(comparison.runs.size());
  for (const RunAgainstBaseline& run : comparison.runs) runs.push_back(run.run);
  const std::vector<std::size_t> colors = run_colors(runs);
  const auto gain = [](const RunAgainstBaseline& run) {
    return run.is_baseline ? std::numeric_limits<double>::infinity() : run.ratio ? run.ratio->value : 0.0;
  };
  std::ranges::stable_sort(comparison.runs, std::greater<>(), gain);
  colors_.clear();
  for (const RunAgainstBaseline& run : comparison.runs)
    colors_.push_back(colors[static_cast<std::size_t>(std::ranges::find(runs, run.run) - runs.begin())]);
  columns_ = columns_of(comparison);
  std::vector<ColumnText> words;
  words.reserve(columns_.size());
  for (const Shown& column : columns_) words.push_back(column.words);
  set_columns(std::move(words));
  set_row_count(comparison.runs.size());
  comparison_ = std::move(comparison);
  endResetModel();
}

FigureValue ComparisonModel::value(std::size_t row, int column) const {
  const Shown& shown = columns_[static_cast<std::size_t>(column)];
  return shown.value ? shown.value(comparison_.runs[row]) : FigureValue();
}

QString ComparisonModel::run_name(std::size_t row) const {
  const ComparedRun& of = comparison_.runs[row].run;
  const QString specification = QString::fromStdString(of.row().specification);
  const bool is_one_file =
      std::all_of(comparison_.runs.begin(), comparison_.runs.end(),
                  [&](const RunAgainstBaseline& other) { return other.run.recording == of.recording; });
  return is_one_file
             ? specification
             : QStringLiteral("%1  (%2)").arg(specification, QString::fromStdString(of.recording->name()));
}

QString ComparisonModel::text(std::size_t row, int column) const {
  if (column == run) return run_name(row);
  if (column == ratio && comparison_.runs[row].is_baseline) return tr("baseline");
  if (column == faster && comparison_.runs[row].prompts > 0)
    return tr("%1 of %2").arg(comparison_.runs[row].faster_prompts).arg(comparison_.runs[row].prompts);
  return figure_text(columns_[static_cast<std::size_t>(column)].format, value(row, column));
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto row = static_cast<std::size_t>(index.row());
  if (role == Qt::ToolTipRole && index.column() == run) return text(row, run);
  // The table is the legend of the run's lines, so it shows their colour.
  if (role == Qt::DecorationRole && index.column() == run)
    return series_color(colors_[row], is_dark(QGuiApplication::palette()));
  return cell_data(
      role, value_role, index.column() == run, [&] { return text(row, index.column()); },
      [&] { return simulator::figure_number(value(row, index.column())); });
}

}  // namespace draftscope::gui
