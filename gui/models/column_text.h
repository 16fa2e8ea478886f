// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What tables of figures have in common: columns with a title and a tooltip, and cells made by a figure's
// format.

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

/// QAbstractItemModel::headerData() of such a column.
[[nodiscard]] QVariant header_data(const ColumnText& column, Qt::Orientation orientation, int role);

[[nodiscard]] int cell_alignment(bool is_text);

/// A value as its format has it; a dash where it can't be given.
[[nodiscard]] QString figure_text(simulator::FigureFormat format, const simulator::FigureValue& value);

/// QAbstractItemModel::data() of a cell with a figure: its text, and the raw number in `value_role`.
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
