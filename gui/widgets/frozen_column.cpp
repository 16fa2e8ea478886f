// SPDX-License-Identifier: GPL-3.0-or-later
#include "frozen_column.h"

#include <QApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>

namespace draftscope::gui {

FrozenColumn::FrozenColumn(QTableView& table) : QWidget(&table), table_(table) {
  setObjectName(QStringLiteral("frozen-column"));
  hide();
  connect(table_.horizontalScrollBar(), &QScrollBar::valueChanged, this, &FrozenColumn::follow);
  connect(table_.verticalScrollBar(), &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
  connect(table_.horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, qOverload<>(&QWidget::update));
  connect(table_.selectionModel(), &QItemSelectionModel::selectionChanged, this,
          qOverload<>(&QWidget::update));
  connect(table_.selectionModel(), &QItemSelectionModel::currentChanged, this, &FrozenColumn::uncover);
  connect(table_.model(), &QAbstractItemModel::layoutChanged, this, qOverload<>(&QWidget::update));
}

int FrozenColumn::column() const {
  const QHeaderView& header = *table_.horizontalHeader();
  for (int place = 0; place < header.count(); ++place)
    if (!header.isSectionHidden(header.logicalIndex(place))) return header.logicalIndex(place);
  return -1;
}

void FrozenColumn::follow() {
  const int of = column();
  const QRect area = table_.viewport()->geometry();
  // A column as wide as the table would leave nothing to scroll.
  const int width = of < 0 ? 0 : std::min(table_.columnWidth(of), area.width() / 2);
  const int head = table_.horizontalHeader()->height();
  setGeometry(area.left(), area.top() - head, width, area.height() + head);
  setVisible(table_.horizontalScrollBar()->value() > 0 && width > 0);
  raise();
  update();
}

void FrozenColumn::uncover(const QModelIndex& current) const {
  if (!isVisible() || !current.isValid() || current.column() == column()) return;
  const int left = table_.columnViewportPosition(current.column());
  QScrollBar& bar = *table_.horizontalScrollBar();
  if (left < width()) bar.setValue(bar.value() - (width() - left));
}

bool FrozenColumn::event(QEvent* event) {
  const bool is_tip = event->type() == QEvent::ToolTip;
  const bool is_mouse = event->type() == QEvent::MouseButtonPress ||
                        event->type() == QEvent::MouseButtonRelease ||
                        event->type() == QEvent::MouseButtonDblClick;
  if (!is_tip && !is_mouse) return QWidget::event(event);
  QHeaderView& header = *table_.horizontalHeader();
  const QPointF here =
      is_tip ? QPointF(static_cast<QHelpEvent*>(event)->pos()) : static_cast<QMouseEvent*>(event)->position();
  const bool is_head = here.y() < header.height();
  QWidget& target = is_head ? *header.viewport() : *table_.viewport();
  const QPointF there =
      here + QPointF(table_.columnViewportPosition(column()), is_head ? 0 : -header.height());
  if (is_tip) {
    QHelpEvent sent(QEvent::ToolTip, there.toPoint(), static_cast<QHelpEvent*>(event)->globalPos());
    return QApplication::sendEvent(&target, &sent);
  }
  const auto* mouse = static_cast<QMouseEvent*>(event);
  QMouseEvent sent(mouse->type(), there, mouse->globalPosition(), mouse->button(), mouse->buttons(),
                   mouse->modifiers());
  // The table would scroll back to the cell that this column shows.
  const bool scrolls = table_.hasAutoScroll();
  table_.setAutoScroll(false);
  QApplication::sendEvent(&target, &sent);
  table_.setAutoScroll(scrolls);
  return true;
}

void FrozenColumn::paint_head(QPainter& painter, int column) const {
  const QHeaderView& header = *table_.horizontalHeader();
  QStyleOptionHeader option;
  option.initFrom(&header);
  option.rect = QRect(0, 0, width(), header.height());
  option.section = column;
  option.text = table_.model()->headerData(column, Qt::Horizontal).toString();
  option.textAlignment = Qt::AlignCenter;
  option.position = QStyleOptionHeader::Beginning;
  if (header.isSortIndicatorShown() && header.sortIndicatorSection() == column)
    option.sortIndicator = header.sortIndicatorOrder() == Qt::AscendingOrder ? QStyleOptionHeader::SortDown
                                                                             : QStyleOptionHeader::SortUp;
  painter.setFont(header.font());
  header.style()->drawControl(QStyle::CE_Header, &option, &painter, &header);
}

void FrozenColumn::paint_cell(QPainter& painter, const QModelIndex& index, const QRect& box) const {
  QStyleOptionViewItem option;
  option.initFrom(&table_);
  option.font = table_.font();
  option.widget = &table_;
  option.rect = box;
  option.textElideMode = table_.textElideMode();
  option.showDecorationSelected = true;
  const int icon = table_.style()->pixelMetric(QStyle::PM_SmallIconSize, nullptr, &table_);
  option.decorationSize = {icon, icon};
  option.state &= ~QStyle::State_HasFocus;
  const bool is_selected = table_.selectionModel()->isSelected(index);
  option.state.setFlag(QStyle::State_Selected, is_selected);
  const bool is_alternate = table_.alternatingRowColors() && index.row() % 2 == 1;
  const auto back = is_selected    ? QPalette::Highlight
                    : is_alternate ? QPalette::AlternateBase
                                   : QPalette::Base;
  painter.fillRect(box, option.palette.color(back));
  painter.setPen(option.palette.color(QPalette::Text));
  table_.itemDelegateForIndex(index)->paint(&painter, option, index);
}

void FrozenColumn::paintEvent(QPaintEvent* /*event*/) {
  const int of = column();
  if (of < 0) return;
  QPainter painter(this);
  painter.fillRect(rect(), table_.palette().color(QPalette::Base));
  const int head = table_.horizontalHeader()->height();
  const QColor grid = QColor::fromRgba(
      static_cast<QRgb>(table_.style()->styleHint(QStyle::SH_Table_GridLineColor, nullptr, &table_)));
  const int rows = table_.model()->rowCount();
  for (int row = std::max(0, table_.rowAt(0)); row < rows; ++row) {
    const int top = table_.rowViewportPosition(row) + head;
    if (top > height()) break;
    const QRect box(0, top, width() - 1, table_.rowHeight(row) - 1);
    painter.save();
    painter.setClipRect(box);
    paint_cell(painter, table_.model()->index(row, of), box);
    painter.restore();
    painter.setPen(grid);
    painter.drawLine(0, box.bottom() + 1, width(), box.bottom() + 1);
  }
  paint_head(painter, of);
  painter.setPen(table_.palette().color(QPalette::Mid));
  painter.drawLine(width() - 1, 0, width() - 1, height());
}

}  // namespace draftscope::gui
