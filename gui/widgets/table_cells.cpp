// SPDX-License-Identifier: GPL-3.0-or-later
#include "table_cells.h"

#include <QPainter>
#include <QStyle>
#include <QWidget>
#include <QtMath>
#include <algorithm>
#include <memory>

#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

/// Pixels that the style leaves beside a cell's text.
int margin_of(const QStyleOptionViewItem& option) {
  return option.widget->style()->pixelMetric(QStyle::PM_FocusFrameHMargin, &option, option.widget) + 1;
}

}  // namespace

void TextCell::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  if (option.state.testAnyFlags(QStyle::State_Selected | QStyle::State_HasFocus))
    return QStyledItemDelegate::paint(painter, option, index);
  const QString text = index.data(Qt::DisplayRole).toString();
  if (text.isEmpty()) return;
  painter->setFont(option.font);
  const QStaticText& drawn = laid_out(text, option.font, painter->transform());
  const int margin = margin_of(option);
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

QSize TextCell::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QString text = index.data(Qt::DisplayRole).toString();
  if (text.isEmpty()) return QStyledItemDelegate::sizeHint(option, index);
  const QSizeF size = laid_out(text, option.font, {}).size();
  return {qCeil(size.width()) + 2 * margin_of(option), qCeil(size.height())};
}

const QStaticText& TextCell::laid_out(const QString& text, const QFont& font,
                                      const QTransform& transform) const {
  if (font_ != font) {
    texts_.clear();
    font_ = font;
  }
  if (const QStaticText* known = texts_.object(text)) return *known;
  auto made = std::make_unique<QStaticText>(text);
  made->setTextFormat(Qt::PlainText);
  made->prepare(transform, font_);
  const QStaticText& result = *made;
  texts_.insert(text, made.release());
  return result;
}

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
