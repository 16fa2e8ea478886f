// SPDX-License-Identifier: GPL-3.0-or-later
#include "exit_grid_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/theme.h"
#include "widgets/time_text.h"
#include "widgets/tool_tip.h"

namespace draftscope::gui {

ExitGridPlot::ExitGridPlot(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Exits by where they drafted"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
}

void ExitGridPlot::show_grid(ExitGrid grid) {
  grid_ = std::move(grid);
  cell_ = {};
  if (!empty()) go_to({});
  update();
}

QRect ExitGridPlot::plot_area() const {
  return rect().adjusted(64, 8, -16, -28);
}

QRect ExitGridPlot::box_of(Cell cell) const {
  // The first exit is at the bottom, as in the skip map.
  const QRect area = plot_area();
  const auto rows = static_cast<int>(grid_.exits.size());
  const auto columns = static_cast<int>(grid_.columns.size());
  const auto x = [&](int column) { return area.left() + column * area.width() / columns; };
  const auto y = [&](int row) { return area.top() + row * area.height() / rows; };
  const int row = rows - 1 - static_cast<int>(cell.row);
  const auto column = static_cast<int>(cell.column);
  return {x(column), y(row), x(column + 1) - x(column) - 1, y(row + 1) - y(row) - 1};
}

std::optional<ExitGridPlot::Cell> ExitGridPlot::cell_at(const QPoint& point) const {
  for (std::size_t row = 0; row < grid_.exits.size(); ++row)
    for (std::size_t column = 0; column < grid_.columns.size(); ++column)
      if (box_of({row, column}).contains(point)) return Cell{row, column};
  return std::nullopt;
}

QString ExitGridPlot::words_of(Cell cell) const {
  const ExitCell& content = grid_.cells[cell.row][cell.column];
  QString words = tr("exit %1, %2: %3 of the rounds (%4)")
                      .arg(grid_.exits[cell.row])
                      .arg(QString::fromStdString(grid_.columns[cell.column]),
                           percent_text(grid_.share(cell.row, cell.column)))
                      .arg(content.rounds);
  if (content.drafted == 0) return words;
  return words +
         tr(", %1 of their draft tokens accepted")
             .arg(percent_text(static_cast<double>(content.accepted) / static_cast<double>(content.drafted)));
}

void ExitGridPlot::go_to(Cell cell) {
  cell_ = cell;
  setAccessibleDescription(words_of(cell));
  emit described(words_of(cell));
  update();
}

void ExitGridPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (empty() || plot_area().width() < 10) return;
  const QRect area = plot_area();
  const QFontMetrics letters = painter.fontMetrics();
  // The commonest cell has the strongest colour: shares of many exits are small.
  double most = 1e-9;
  for (std::size_t row = 0; row < grid_.exits.size(); ++row)
    for (std::size_t column = 0; column < grid_.columns.size(); ++column)
      most = std::max(most, grid_.share(row, column));
  for (std::size_t row = 0; row < grid_.exits.size(); ++row) {
    const QRect first = box_of({row, 0});
    painter.setPen(palette().color(QPalette::WindowText));
    if (first.height() >= letters.height() || row % 2 == 0)
      painter.drawText(QRect(0, first.center().y() - 9, area.left() - 6, 18),
                       Qt::AlignRight | Qt::AlignVCenter, tr("exit %1").arg(grid_.exits[row]));
    for (std::size_t column = 0; column < grid_.columns.size(); ++column) {
      const QRect box = box_of({row, column});
      const double share = grid_.share(row, column);
      const QColor color = scale_color(share / most, is_dark(palette()));
      painter.fillRect(box, color);
      const QString number = percent_text(share);
      if (grid_.cells[row][column].rounds == 0 || box.height() < letters.height() ||
          box.width() < letters.horizontalAdvance(number) + 4)
        continue;
      painter.setPen(ink_on(color));
      painter.drawText(box, Qt::AlignCenter, number);
    }
  }
  painter.setPen(palette().color(QPalette::WindowText));
  for (std::size_t column = 0; column < grid_.columns.size(); ++column) {
    const QRect box = box_of({0, column});
    painter.drawText(
        QRect(box.left(), area.bottom() + 4, box.width(), 20), Qt::AlignCenter,
        letters.elidedText(QString::fromStdString(grid_.columns[column]), Qt::ElideRight, box.width() - 2));
  }
  painter.setPen(QPen(cursor_color(is_dark(palette())), hasFocus() ? 2.5 : 1.0));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box_of(cell_));
}

void ExitGridPlot::keyPressEvent(QKeyEvent* event) {
  if (empty()) return QWidget::keyPressEvent(event);
  Cell to = cell_;
  if (event->key() == Qt::Key_Left && to.column > 0)
    --to.column;
  else if (event->key() == Qt::Key_Right && to.column + 1 < grid_.columns.size())
    ++to.column;
  else if (event->key() == Qt::Key_Down && to.row > 0)
    --to.row;
  else if (event->key() == Qt::Key_Up && to.row + 1 < grid_.exits.size())
    ++to.row;
  else
    return QWidget::keyPressEvent(event);
  go_to(to);
}

void ExitGridPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto cell = cell_at(event->pos())) go_to(*cell);
}

bool ExitGridPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto cell = cell_at(help->pos());
    show_tip(*help, *this, cell ? words_of(*cell) : QString());
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

}  // namespace draftscope::gui
