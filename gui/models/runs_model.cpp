// SPDX-License-Identifier: GPL-3.0-or-later
#include "runs_model.h"

#include <draftscope/simulator/analysis/figure.h>
#include <algorithm>
#include <limits>

#include "data/details/run_comparison.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::FigureFormat;
using simulator::FigureTable;
using simulator::MeasuredFigure;
using Columns = std::vector<const MeasuredFigure*>;

/// Figures to the right of the run's name.
Columns make_columns() {
  Columns columns;
  for (const std::string_view key : simulator::figure_table(FigureTable::app))
    columns.push_back(&simulator::measured_figure(key));
  for (const MeasuredFigure& figure : simulator::measured_figures())
    if (figure.format != FigureFormat::list &&
        std::find(columns.begin(), columns.end(), &figure) == columns.end())
      columns.push_back(&figure);
  return columns;
}

const Columns& columns() {
  static const Columns list = make_columns();
  return list;
}

const MeasuredFigure& figure_at(int column) {
  return *columns()[static_cast<std::size_t>(column - 1)];
}

bool is_text_column(int column) {
  if (column == RunsModel::run) return true;
  return column < RunsModel::phases_column() && figure_at(column).format == FigureFormat::text;
}

}  // namespace

RunsModel::RunsModel() {
  std::vector<ColumnText> words{{tr("run"), tr("Strategy with its parameters")}};
  for (const MeasuredFigure* figure : columns()) {
    words.push_back(column_text(figure->title, figure->explanation));
    if (figure->key == "step_acceptance") words.back().title = tr("accepted per step");
  }
  words.push_back(
      {tr("time by phase"), tr("Wall time of the run, split by phase; the longest run's fills the column")});
  words.push_back({tr("rows/round"), tr("Rows of a target forward on average: the tokens that it verifies "
                                        "and the one before them")});
  set_columns(std::move(words));
}

void RunsModel::set_recording(RecordingPointer recording) {
  beginResetModel();
  recording_ = std::move(recording);
  std::vector<ComparedRun> runs;
  for (std::size_t index = 0; recording_ && index < recording_->runs().size(); ++index)
    runs.push_back({recording_, index});
  colors_ = run_colors(runs);
  set_row_count(recording_ ? recording_->measured().figures.runs.size() : 0);
  endResetModel();
}

int RunsModel::column_of(std::string_view key) {
  const auto found = std::find_if(columns().begin(), columns().end(),
                                  [&](const MeasuredFigure* figure) { return figure->key == key; });
  return found == columns().end() ? -1 : 1 + static_cast<int>(found - columns().begin());
}

int RunsModel::shown_columns() {
  return 1 + static_cast<int>(simulator::figure_table(FigureTable::app).size());
}

int RunsModel::phases_column() {
  return 1 + static_cast<int>(columns().size());
}

int RunsModel::rows_column() {
  return phases_column() + 1;
}

const simulator::Figures* RunsModel::figures(int row) const {
  if (row < 0 || row >= rowCount()) return nullptr;
  return &recording_->measured().figures.runs[static_cast<std::size_t>(row)].all;
}

bool RunsModel::is_baseline(int row) const {
  const simulator::Figures* of = figures(row);
  return of != nullptr && of->run == recording_->measured().figures.baseline;
}

std::optional<double> RunsModel::number(int row, int column) const {
  if (column == run) return std::nullopt;
  if (column == phases_column()) return static_cast<double>(figures(row)->throughput.wall_ns);
  if (column == rows_column()) return recording_->runs()[static_cast<std::size_t>(row)].rows_per_round;
  return simulator::figure_number(figure_at(column).get(*figures(row)));
}

QString RunsModel::text(int row, int column) const {
  const simulator::Figures& of = *figures(row);
  if (column == run) return QString::fromStdString(of.run->specification);
  if (column == phases_column()) return phase_shares_text(of);
  if (column == rows_column()) {
    const std::optional<double> rows = number(row, column);
    return rows ? number_text(*rows) : QStringLiteral("–");
  }
  const MeasuredFigure& figure = figure_at(column);
  if (figure.format == FigureFormat::speedup && is_baseline(row)) return tr("baseline");
  return figure_text(figure.format, figure.get(of));
}

QString RunsModel::written(int row, int column) const {
  const bool is_decoding = column == column_of("speedup.decode_value");
  if ((!is_decoding && column != column_of("speedup.value")) || is_baseline(row)) return text(row, column);
  const std::optional<simulator::Speedup>& speedup = figures(row)->speedup;
  const auto interval = !speedup      ? std::optional<simulator::Interval>()
                        : is_decoding ? speedup->decode_interval
                                      : speedup->interval;
  return interval
             ? QStringLiteral("%1 (%2)").arg(text(row, column), range_text(interval->low, interval->high))
             : text(row, column);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int row = index.row();
  const int column = index.column();
  if (role == Qt::ToolTipRole && column == run)
    return QStringLiteral("%1\n%2").arg(QString::fromStdString(figures(row)->run->specification),
                                        QString::fromStdString(figures(row)->run->parameters));
  // Both kinds of acceptance in one tip; the column is the one that the command leads with.
  if (role == Qt::ToolTipRole && column == column_of("step_acceptance")) {
    const QVariant of_all = index.siblingAtColumn(column_of("acceptance_rate")).data();
    return tr("%1 of the draft steps, %2 of all draft tokens with the branches of trees")
        .arg(index.data().toString(), of_all.toString());
  }
  if (role == sort_role) {
    if (is_text_column(column)) return text(row, column);
    // The baseline's speedup sorts as 1; runs without the figure come last.
    const bool is_one =
        is_baseline(row) && column < phases_column() && figure_at(column).format == FigureFormat::speedup;
    return number(row, column).value_or(is_one ? 1.0 : -std::numeric_limits<double>::infinity());
  }
  if (role == Qt::EditRole) return written(row, column);
  return cell_data(
      role, value_role, is_text_column(column), [&] { return text(row, column); },
      [&] { return number(row, column); });
}

QString phase_shares_text(const simulator::Figures& figures) {
  const auto wall = static_cast<double>(figures.throughput.wall_ns);
  QStringList shares;
  for (int phase = 0; phase < traces::phase_count; ++phase)
    if (const std::int64_t ns = figures.breakdown.by_phase[static_cast<std::size_t>(phase)];
        ns > 0 && wall > 0.0)
      shares << QStringLiteral("%1 %2").arg(
          QString::fromStdString(std::string(traces::phase_name(static_cast<traces::Phase>(phase)))),
          percent_text(static_cast<double>(ns) / wall));
  return shares.isEmpty() ? QStringLiteral("–") : shares.join(u", ");
}

}  // namespace draftscope::gui
