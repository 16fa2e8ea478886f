// SPDX-License-Identifier: GPL-3.0-or-later
#include "share_cell.h"

#include <QPainter>
#include <algorithm>

#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

void ShareCell::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const double share = std::clamp(index.data(value_role_).toDouble(), 0.0, 1.0);
  const QRectF room = option.rect.adjusted(1, 2, -1, -2);
  QStyledItemDelegate::paint(painter, option, index);
  // The bar lies over the text, which shows through it, and over the colour of a chosen row.
  QColor color = option.state.testFlag(QStyle::State_Selected)
                     ? option.palette.color(QPalette::HighlightedText)
                     : series_color(1, is_dark(option.palette));
  color.setAlpha(80);
  painter->fillRect(QRectF(room.left(), room.top(), share * room.width(), room.height()), color);
}

QSize ShareCell::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QSize text = QStyledItemDelegate::sizeHint(option, index);
  return text.expandedTo({min_letters_ * option.fontMetrics.horizontalAdvance(u'0'), text.height()});
}

}  // namespace draftscope::gui
