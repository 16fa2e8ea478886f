// SPDX-License-Identifier: GPL-3.0-or-later
#include "column_words.h"

namespace draftscope::gui {

QVariant header_words(std::span<const ColumnWords> words, const char* context, int section,
                      Qt::Orientation orientation, int role) {
  if (orientation != Qt::Horizontal || section < 0 || static_cast<std::size_t>(section) >= words.size())
    return {};
  const ColumnWords& column = words[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return QCoreApplication::translate(context, column.name);
  if (role == Qt::ToolTipRole) return QCoreApplication::translate(context, column.explanation);
  return {};
}

int cell_alignment(bool is_words) {
  return static_cast<int>((is_words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
}

}  // namespace draftscope::gui
