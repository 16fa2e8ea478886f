// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbers_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "widgets/time_text.h"

namespace draftscope::gui {

void NumbersModel::set_numbers(const QStringList& columns, std::vector<Row> rows,
                               std::optional<std::size_t> first_grey) {
  beginResetModel();
  first_grey_ = first_grey.value_or(rows.size());
  std::vector<ColumnText> words;
  for (const QString& column : columns) words.push_back({column, {}});
  set_columns(std::move(words));
  set_row_count(rows.size());
  rows_ = std::move(rows);
  endResetModel();
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

}  // namespace draftscope::gui
