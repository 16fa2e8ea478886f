// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers of a picture, an answer or a live recording as a table, on screen, for screen readers, and as CSV.
// Doubles are shown with three significant digits and written in full; a missing value is a dash.

#include <QStringList>
#include <QVariant>
#include <cstddef>
#include <optional>
#include <vector>

#include "models/column_text.h"

namespace draftscope::gui {

class NumbersModel : public ColumnsModel {
  Q_OBJECT

 public:
  using Row = std::vector<QVariant>;

  /// Sets the table; every row has one value per column. Rows from `first_grey` on are drawn in grey.
  void set_numbers(const QStringList& columns, std::vector<Row> rows,
                   std::optional<std::size_t> first_grey = {});

  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  std::vector<Row> rows_;
  std::size_t first_grey_ = 0;
};

/// Cell of a value that may be absent.
template <typename Value>
[[nodiscard]] QVariant variant_of(const std::optional<Value>& value) {
  return value ? QVariant(*value) : QVariant();
}

}  // namespace draftscope::gui
