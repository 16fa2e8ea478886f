// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbers_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "widgets/time_text.h"

namespace draftscope::gui {

void NumbersModel::set_numbers(QStringList columns, std::vector<Row> rows,
                               std::optional<std::size_t> first_grey) {
  beginResetModel();
  first_grey_ = first_grey.value_or(rows.size());
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
    case Qt::ForegroundRole:
      return static_cast<std::size_t>(index.row()) < first_grey_
                 ? QVariant()
                 : QVariant(QGuiApplication::palette().color(QPalette::Disabled, QPalette::Text));
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
