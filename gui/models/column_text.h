// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared parts of tables: columns with a title and a tooltip, and cells in a figure's format.

#include <draftscope/simulator/analysis/figure.h>
#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::gui {

struct ColumnText {
  QString title;
  QString tooltip;
};

/// Texts of a row of a catalogue, translated in the context "Figures".
[[nodiscard]] ColumnText column_text(std::string_view title, std::string_view explanation);

/// A table with such columns; subclasses have its cells.
class ColumnsModel : public QAbstractTableModel {
 public:
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 protected:
  // Both are called while the model is reset, or before anybody sees it.
  void set_columns(std::vector<ColumnText> columns) { columns_ = std::move(columns); }
  void set_row_count(std::size_t count) { row_count_ = static_cast<int>(count); }

 private:
  std::vector<ColumnText> columns_;
  int row_count_ = 0;
};

[[nodiscard]] int cell_alignment(bool is_text);

/// Formats a value; a dash where it has none.
[[nodiscard]] QString figure_text(simulator::FigureFormat format, const simulator::FigureValue& value);

/// Data of a cell with a figure, for QAbstractItemModel::data(): its text, and the raw number in
/// `value_role`.
template <typename Text, typename Value>
[[nodiscard]] QVariant cell_data(int role, int value_role, bool is_text, const Text& text,
                                 const Value& value) {
  if (role == Qt::DisplayRole) return text();
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_text);
  if (role != value_role) return {};
  const std::optional<double> number = value();
  return number ? QVariant(*number) : QVariant();
}

}  // namespace draftscope::gui
