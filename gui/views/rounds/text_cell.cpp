// SPDX-License-Identifier: GPL-3.0-or-later
#include "text_cell.h"

#include <QPainter>
#include <QStyle>
#include <QWidget>
#include <memory>

namespace draftscope::gui {

void TextCell::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  if (option.state.testAnyFlags(QStyle::State_Selected | QStyle::State_HasFocus))
    return QStyledItemDelegate::paint(painter, option, index);
  const QString text = index.data(Qt::DisplayRole).toString();
  if (text.isEmpty()) return;
  painter->setFont(option.font);
  const QStaticText& drawn = laid_out(text, *painter);
  const QStyle& style = *option.widget->style();
  const int margin = style.pixelMetric(QStyle::PM_FocusFrameHMargin, &option, option.widget) + 1;
  const QRect box = option.rect.adjusted(margin, 0, -margin, 0);
  const QSizeF size = drawn.size();
  if (size.width() > box.width()) return QStyledItemDelegate::paint(painter, option, index);
  const Qt::Alignment alignment = QStyle::visualAlignment(
      option.direction, static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt()));
  const double left = alignment.testFlag(Qt::AlignRight) ? box.width() - size.width() : 0.0;
  const int top = QStyle::alignedRect(option.direction, Qt::AlignVCenter, size.toSize(), box).top();
  painter->setPen(option.palette.color(QPalette::Text));
  painter->drawStaticText(QPointF(box.left() + left, top), drawn);
}

const QStaticText& TextCell::laid_out(const QString& text, const QPainter& painter) const {
  if (font_ != painter.font()) {
    texts_.clear();
    font_ = painter.font();
  }
  if (const QStaticText* known = texts_.object(text)) return *known;
  auto made = std::make_unique<QStaticText>(text);
  made->setTextFormat(Qt::PlainText);
  made->prepare(painter.transform(), font_);
  const QStaticText& result = *made;
  texts_.insert(text, made.release());
  return result;
}

}  // namespace draftscope::gui
