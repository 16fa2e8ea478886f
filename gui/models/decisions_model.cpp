// SPDX-License-Identifier: GPL-3.0-or-later
#include "decisions_model.h"

#include <algorithm>
#include <cmath>

#include "widgets/time_text.h"

namespace draftscope::gui {

void DecisionsModel::set_kind(std::shared_ptr<const DecisionHistory> history, std::size_t run_index,
                              std::string_view kind) {
  beginResetModel();
  history_ = std::move(history);
  decisions_ = nullptr;
  places_ = nullptr;
  series_.clear();
  has_whole_numbers_.clear();
  if (history_ && run_index < history_->runs.size()) {
    const RunHistory& run = history_->runs[run_index];
    if (const std::size_t found = run.kind_index(kind); found < run.decisions.kinds.size()) {
      decisions_ = &run.decisions.kinds[found];
      places_ = &run.places[found];
      for (const simulator::DecisionSeries& series : decisions_->series)
        if (!series.row->per_exit) series_.push_back(&series);
      for (const simulator::DecisionSeries* series : series_)
        has_whole_numbers_.push_back(std::ranges::all_of(
            series->values, [](double value) { return std::isnan(value) || value == std::round(value); }));
    }
  }
  std::vector<ColumnText> columns;
  if (decisions_ != nullptr) {
    columns = {{tr("round"), tr("Round of the run after or in which it was made")},
               {tr("took effect"), tr("Whether what was decided was then done")},
               {tr("time"), tr("Time that deciding took, where it was measured")}};
    for (const simulator::DecisionSeries* series : series_)
      columns.push_back(column_text(series->row->title, series->row->explanation));
    for (const auto& words : decisions_->words)
      columns.push_back(column_text(words.row->title, words.row->explanation));
  }
  set_columns(std::move(columns));
  set_row_count(decisions_ == nullptr ? 0 : decisions_->start_ns.size());
  endResetModel();
}

std::uint32_t DecisionsModel::place_of_row(int row) const {
  return row < 0 || row >= rowCount() ? no_index : (*places_)[static_cast<std::size_t>(row)];
}

int DecisionsModel::row_of_place(std::uint32_t place) const {
  if (places_ == nullptr) return -1;
  const auto found = std::find(places_->begin(), places_->end(), place);
  return found == places_->end() ? -1 : static_cast<int>(found - places_->begin());
}

QVariant DecisionsModel::fixed_data(std::size_t row, int column, int role) const {
  const bool is_value = role == value_role;
  if (!is_value && role != Qt::DisplayRole) return {};
  switch (column) {
    case 0: {
      const std::uint32_t place = (*places_)[row];
      return place == no_index ? QVariant() : QVariant(place);
    }
    case 1:
      return decisions_->adopted[row] ? tr("yes") : tr("no");
    default: {
      const auto ns = static_cast<qlonglong>(decisions_->duration_ns[row]);
      if (is_value) return ns;
      return ns == 0 ? QVariant(QStringLiteral("–")) : QVariant(duration_text(ns));
    }
  }
}

QVariant DecisionsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const auto column = static_cast<std::size_t>(index.column());
  const bool is_text = column == 1 || column >= fixed_columns + series_.size();
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_text);
  if (column < fixed_columns) return fixed_data(row, index.column(), role);
  if (role != Qt::DisplayRole && role != value_role) return {};
  if (is_text)
    return QString::fromStdString(decisions_->words[column - fixed_columns - series_.size()].values[row]);
  const double value = series_[column - fixed_columns]->values[row];
  if (role == value_role) return std::isnan(value) ? QVariant() : QVariant(value);
  if (has_whole_numbers_[column - fixed_columns] && std::isfinite(value))
    return QString::number(std::llround(value));
  return number_text(value);
}

}  // namespace draftscope::gui
