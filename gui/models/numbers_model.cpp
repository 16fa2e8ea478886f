// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbers_model.h"

#include "widgets/time_text.h"

namespace draftscope::gui {

void NumbersModel::set_numbers(QStringList columns, std::vector<Row> rows) {
  beginResetModel();
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  endResetModel();
}

int NumbersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int NumbersModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant NumbersModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const QVariant& value =
      rows_[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
  const bool is_number = value.typeId() == QMetaType::Double;
  switch (role) {
    case Qt::DisplayRole:
      if (!value.isValid()) return QStringLiteral("–");
      return is_number ? QVariant(number_text(value.toDouble())) : value;
    case Qt::UserRole:
      return value;
    case Qt::TextAlignmentRole:
      return QVariant(is_number || value.typeId() == QMetaType::Int || !value.isValid()
                          ? Qt::AlignRight | Qt::AlignVCenter
                          : Qt::AlignLeft | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant NumbersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columns_.size())
    return {};
  return columns_[section];
}

}  // namespace draftscope::gui
