// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison_model.h"

#include <QGuiApplication>
#include <algorithm>
#include <array>

#include "models/column_words.h"
#include "views/plot_style.h"
#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::array<ColumnWords, ComparisonModel::column_count> words{{
    {QT_TRANSLATE_NOOP("ComparisonModel", "run"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Strategy, and the recording that it is of")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "tokens/s"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Over all its requests, prefill included")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "Δ tokens/s"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Less the baseline's")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "ratio"),
     QT_TRANSLATE_NOOP("ComparisonModel", "To the baseline, on the prompts of both")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "95 % from"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Of the ratio: bootstrap over prompts")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "to"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Of the ratio: bootstrap over prompts")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "p"),
     QT_TRANSLATE_NOOP("ComparisonModel",
                       "That the two are equally fast: signed-rank test, corrected for the number of runs")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "M"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Tokens that a target forward yields")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "acceptance α"),
     QT_TRANSLATE_NOOP("ComparisonModel", "Accepted / drafted tokens")},
    {QT_TRANSLATE_NOOP("ComparisonModel", "same text"),
     QT_TRANSLATE_NOOP("ComparisonModel", "As the baseline's, token for token")},
}};

const simulator::Figures& figures_of(const ComparedRun& run) {
  return run.recording->measured().figures.runs[run.run].all;
}

}  // namespace

void ComparisonModel::set_comparison(RunsComparison comparison) {
  beginResetModel();
  comparison_ = std::move(comparison);
  endResetModel();
}

int ComparisonModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(comparison_.runs.size());
}

int ComparisonModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

std::optional<double> ComparisonModel::value(std::size_t row, int column) const {
  const RunAgainstBaseline& of = comparison_.runs[row];
  const simulator::Figures& figures = figures_of(of.run);
  switch (column) {
    case tokens_per_second:
      return figures.throughput.tokens_per_second;
    case difference:
      for (const RunAgainstBaseline& other : comparison_.runs)
        if (other.is_baseline && !of.is_baseline && figures.throughput.tokens_per_second) {
          const std::optional<double> base = figures_of(other.run).throughput.tokens_per_second;
          return base ? std::optional(*figures.throughput.tokens_per_second - *base) : std::nullopt;
        }
      return std::nullopt;
    case ratio:
      return of.ratio ? std::optional(of.ratio->value) : std::nullopt;
    case low:
      return of.ratio && of.ratio->interval ? std::optional(of.ratio->interval->low) : std::nullopt;
    case high:
      return of.ratio && of.ratio->interval ? std::optional(of.ratio->interval->high) : std::nullopt;
    case significance:
      return of.adjusted_p_value;
    case mean_accepted_length:
      return figures.acceptance.mean_accepted_length;
    case acceptance_rate:
      return figures.acceptance.acceptance_rate;
    default:
      return std::nullopt;
  }
}

QString ComparisonModel::text(std::size_t row, int column) const {
  const RunAgainstBaseline& of = comparison_.runs[row];
  if (column == run) {
    const QString specification = QString::fromStdString(of.run.row().specification);
    const bool is_one_file =
        std::all_of(comparison_.runs.begin(), comparison_.runs.end(),
                    [&](const RunAgainstBaseline& other) { return other.run.recording == of.run.recording; });
    return is_one_file ? specification
                       : QStringLiteral("%1  (%2)")
                             .arg(specification, QString::fromStdString(of.run.recording->name()));
  }
  if (column == identical) {
    if (of.is_baseline || of.identity.compared_prompts == 0) return QStringLiteral("–");
    return of.identity.differing_prompts == 0
               ? tr("yes")
               : tr("no (%1 of %2)").arg(of.identity.differing_prompts).arg(of.identity.compared_prompts);
  }
  if (column == ratio && of.is_baseline) return tr("baseline");
  const std::optional<double> number = value(row, column);
  if (!number) return QStringLiteral("–");
  if (column == ratio) return QStringLiteral("%1×").arg(number_text(*number));
  if (column == acceptance_rate) return percent_text(*number);
  if (column == difference && *number > 0.0) return QStringLiteral("+%1").arg(number_text(*number));
  return number_text(*number);
}

QVariant ComparisonModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto row = static_cast<std::size_t>(index.row());
  if (role == Qt::ToolTipRole && index.column() == run) return text(row, run);
  // The colour of the run's lines: the table is their legend.
  if (role == Qt::DecorationRole && index.column() == run)
    return series_color(row, is_dark(QGuiApplication::palette()));
  return figure_cell(
      role, value_role, index.column() == run, [&] { return text(row, index.column()); },
      [&] { return value(row, index.column()); });
}

QVariant ComparisonModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return header_words(words, "ComparisonModel", section, orientation, role);
}

}  // namespace draftscope::gui
