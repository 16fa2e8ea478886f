// SPDX-License-Identifier: GPL-3.0-or-later
#include "runs_model.h"

#include <draftscope/simulator/catalogue/figure_tables.h>
#include <algorithm>
#include <vector>

#include "models/column_text.h"

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
  return column == RunsModel::run || figure_at(column).format == FigureFormat::text;
}

}  // namespace

void RunsModel::set_recording(RecordingPointer recording) {
  beginResetModel();
  recording_ = std::move(recording);
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

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !recording_ ? 0 : static_cast<int>(recording_->measured().figures.runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : 1 + static_cast<int>(columns().size());
}

QString RunsModel::text(const simulator::Figures& figures, int column) const {
  if (column == run) return QString::fromStdString(figures.run->specification);
  const MeasuredFigure& figure = figure_at(column);
  const simulator::FigureValue value = figure.get(figures);
  if (figure.format == FigureFormat::speedup && figures.run == recording_->measured().figures.baseline)
    return tr("baseline");
  return figure_text(figure.format, value);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const simulator::Figures& figures =
      recording_->measured().figures.runs[static_cast<std::size_t>(index.row())].all;
  const int column = index.column();
  if (role == Qt::ToolTipRole && column == run)
    return QStringLiteral("%1\n%2").arg(QString::fromStdString(figures.run->specification),
                                        QString::fromStdString(figures.run->parameters));
  return cell_data(
      role, value_role, is_text_column(column), [&] { return text(figures, column); },
      [&] {
        return column == run ? std::nullopt : simulator::figure_number(figure_at(column).get(figures));
      });
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section < 0 || section >= columnCount()) return {};
  if (section == run) return header_data({tr("run"), tr("Strategy with its parameters")}, orientation, role);
  const MeasuredFigure& figure = figure_at(section);
  return header_data(column_text(figure.title, figure.explanation), orientation, role);
}

}  // namespace draftscope::gui
