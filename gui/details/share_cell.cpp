// SPDX-License-Identifier: GPL-3.0-or-later
#include "share_cell.h"

#include <QPainter>
#include <algorithm>

namespace draftscope::gui {

void ShareCell::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  constexpr int bar_height = 3;
  const double share = std::clamp(index.data(value_role_).toDouble(), 0.0, 1.0);
  const QRect room = option.rect.adjusted(2, 0, -2, -1);
  QColor color = option.palette.color(QPalette::Highlight);
  if (option.state.testFlag(QStyle::State_Selected)) color = option.palette.color(QPalette::HighlightedText);
  painter->fillRect(QRectF(room.left(), room.bottom() - bar_height + 1, share * room.width(), bar_height),
                    color);
}

}  // namespace draftscope::gui
