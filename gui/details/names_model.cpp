// SPDX-License-Identifier: GPL-3.0-or-later
#include "names_model.h"

#include <array>

#include "models/column_text.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

enum class Column : std::uint8_t { name, phase, count, total, share, mean, max };

struct TitleAndMeaning {
  const char* title;
  const char* explanation;
};
constexpr std::array<TitleAndMeaning, 7> columns{{
    {QT_TRANSLATE_NOOP("NamesModel", "name"), QT_TRANSLATE_NOOP("NamesModel", "Name of the slices")},
    {QT_TRANSLATE_NOOP("NamesModel", "phase"),
     QT_TRANSLATE_NOOP("NamesModel", "Phase that most of their time went to")},
    {QT_TRANSLATE_NOOP("NamesModel", "count"),
     QT_TRANSLATE_NOOP("NamesModel", "Slices that the range holds or cuts")},
    {QT_TRANSLATE_NOOP("NamesModel", "total"),
     QT_TRANSLATE_NOOP("NamesModel", "Their time within the range; of several lanes it is added up")},
    {QT_TRANSLATE_NOOP("NamesModel", "of the range"),
     QT_TRANSLATE_NOOP("NamesModel", "Total per time of the range")},
    {QT_TRANSLATE_NOOP("NamesModel", "mean"), QT_TRANSLATE_NOOP("NamesModel", "Total per slice")},
    {QT_TRANSLATE_NOOP("NamesModel", "max"), QT_TRANSLATE_NOOP("NamesModel", "Longest within the range")},
}};

bool is_text(Column column) {
  return column == Column::name || column == Column::phase;
}

QString phase_text(const NameTotal& row) {
  if (row.lane_kind == LaneKind::requests || row.lane_kind == LaneKind::rounds) return {};
  const std::string_view name = traces::phase_name(row.phase);
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

double number_of(const NameTotal& row, Column column, std::int64_t duration_ns) {
  const auto total = static_cast<double>(row.total_ns);
  switch (column) {
    case Column::count:
      return static_cast<double>(row.count);
    case Column::total:
      return total;
    case Column::share:
      return duration_ns > 0 ? total / static_cast<double>(duration_ns) : 0.0;
    case Column::mean:
      return total / static_cast<double>(std::max<std::size_t>(row.count, 1));
    default:
      return static_cast<double>(row.max_ns);
  }
}

}  // namespace

void NamesModel::set_rows(std::vector<NameTotal> rows, const std::vector<std::string>& names,
                          std::int64_t duration_ns) {
  beginResetModel();
  rows_ = std::move(rows);
  names_.clear();
  for (const NameTotal& row : rows_) names_.push_back(QString::fromStdString(names[row.name]));
  duration_ns_ = duration_ns;
  endResetModel();
}

int NamesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int NamesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns.size());
}

QVariant NamesModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<Column>(index.column());
  const auto place = static_cast<std::size_t>(index.row());
  const NameTotal& row = rows_[place];
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_text(column));
  if (role != Qt::DisplayRole && role != value_role) return {};
  if (column == Column::name) return names_[place];
  if (column == Column::phase) return phase_text(row);
  const double number = number_of(row, column, duration_ns_);
  if (role == value_role) return number;
  if (column == Column::count) return QString::number(row.count);
  if (column == Column::share) return percent_text(number);
  return duration_text(static_cast<std::int64_t>(number));
}

QVariant NamesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section < 0 || section >= columnCount()) return {};
  const TitleAndMeaning& words = columns[static_cast<std::size_t>(section)];
  return header_data({tr(words.title), tr(words.explanation)}, orientation, role);
}

}  // namespace draftscope::gui
