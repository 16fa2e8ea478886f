// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What tables have in common: columns with a name and, as tool tip, what they mean.

#include <QCoreApplication>
#include <QVariant>
#include <optional>
#include <span>

namespace draftscope::gui {

/// Marked for translation in the context of the model's class.
struct ColumnWords {
  const char* name;
  const char* explanation;
};

/// QAbstractItemModel::headerData() of such columns.
[[nodiscard]] QVariant header_words(std::span<const ColumnWords> words, const char* context, int section,
                                    Qt::Orientation orientation, int role);

[[nodiscard]] int cell_alignment(bool is_words);

/// QAbstractItemModel::data() of a cell with a figure: its text, and the raw number in `value_role`.
template <typename Text, typename Value>
[[nodiscard]] QVariant figure_cell(int role, int value_role, bool is_words, const Text& text,
                                   const Value& value) {
  if (role == Qt::DisplayRole) return text();
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_words);
  if (role != value_role) return {};
  const std::optional<double> number = value();
  return number ? QVariant(*number) : QVariant();
}

}  // namespace draftscope::gui
