// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared parts of tables of figures: columns with a title and a tooltip, and cells in a figure's format.

#include <draftscope/simulator/analysis/figure.h>
#include <QString>
#include <QVariant>
#include <optional>
#include <string_view>

namespace draftscope::gui {

struct ColumnText {
  QString title;
  QString tooltip;
};

/// Texts of a row of a catalogue, translated in the context "Figures".
[[nodiscard]] ColumnText column_text(std::string_view title, std::string_view explanation);

/// Implements QAbstractItemModel::headerData() for such columns.
[[nodiscard]] QVariant header_data(const ColumnText& column, Qt::Orientation orientation, int role);

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
