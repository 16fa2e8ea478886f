// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers of a picture, an answer or a live recording as a table, on screen, for screen readers, and as CSV.
// Doubles are shown with three significant digits and written in full; a missing value is a dash.

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>
#include <cstddef>
#include <optional>
#include <vector>

namespace draftscope::gui {

class NumbersModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using Row = std::vector<QVariant>;

  explicit NumbersModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Sets the table; every row has one value per column. Rows from `first_grey` on are drawn in grey.
  void set_numbers(QStringList columns, std::vector<Row> rows, std::optional<std::size_t> first_grey = {});

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 private:
  QStringList columns_;
  std::vector<Row> rows_;
  std::size_t first_grey_ = 0;
};

/// Cell of a value that may be absent.
template <typename Value>
[[nodiscard]] QVariant variant_of(const std::optional<Value>& value) {
  return value ? QVariant(*value) : QVariant();
}

}  // namespace draftscope::gui
