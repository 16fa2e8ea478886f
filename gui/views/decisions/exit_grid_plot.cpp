// SPDX-License-Identifier: GPL-3.0-or-later
#include "exit_grid_plot.h"

#include <QPainter>
#include <algorithm>

#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

ExitGridPlot::ExitGridPlot(QWidget* parent) : KeyboardPlot(tr("Exits by where they drafted"), parent) {}

void ExitGridPlot::show_grid(ExitGrid grid) {
  grid_ = std::move(grid);
  forget_place();
}

QRect ExitGridPlot::box_of(std::size_t exit_row, std::size_t exit_column) const {
  // The first exit is at the bottom, as in the skip map.
  const QRect area = plot_area();
  const auto rows = static_cast<int>(grid_.exits.size());
  const auto columns = static_cast<int>(grid_.columns.size());
  const auto x = [&](int column) { return area.left() + column * area.width() / columns; };
  const auto y = [&](int row) { return area.top() + row * area.height() / rows; };
  const int row = rows - 1 - static_cast<int>(exit_row);
  const auto column = static_cast<int>(exit_column);
  return {x(column), y(row), x(column + 1) - x(column) - 1, y(row + 1) - y(row) - 1};
}

std::optional<std::size_t> ExitGridPlot::place_at(const QPoint& point) const {
  for (std::size_t place = 0; place < places(); ++place)
    if (box_of(place / grid_.columns.size(), place % grid_.columns.size()).contains(point)) return place;
  return std::nullopt;
}

std::optional<std::size_t> ExitGridPlot::next_place(std::size_t from, int key) const {
  const std::size_t columns = grid_.columns.size();
  if (key == Qt::Key_Left && from % columns > 0) return from - 1;
  if (key == Qt::Key_Right && from % columns + 1 < columns) return from + 1;
  // The first exit is at the bottom.
  if (key == Qt::Key_Down && from >= columns) return from - columns;
  if (key == Qt::Key_Up && from + columns < places()) return from + columns;
  return std::nullopt;
}

QString ExitGridPlot::words_of(std::size_t place) const {
  const std::size_t row = place / grid_.columns.size();
  const std::size_t column = place % grid_.columns.size();
  const ExitCell& content = grid_.cells[row][column];
  QString words =
      tr("exit %1, %2: %3 of the rounds (%4)")
          .arg(grid_.exits[row])
          .arg(QString::fromStdString(grid_.columns[column]), percent_text(grid_.share(row, column)))
          .arg(content.rounds);
  if (content.drafted == 0) return words;
  return words +
         tr(", %1 of their draft tokens accepted")
             .arg(percent_text(static_cast<double>(content.accepted) / static_cast<double>(content.drafted)));
}

void ExitGridPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (places() == 0 || plot_area().width() < 10) return;
  const QRect area = plot_area();
  const QFontMetrics letters = painter.fontMetrics();
  // The most common cell has the strongest colour, since shares of many exits are small.
  double most = 1e-9;
  for (std::size_t row = 0; row < grid_.exits.size(); ++row)
    for (std::size_t column = 0; column < grid_.columns.size(); ++column)
      most = std::max(most, grid_.share(row, column));
  for (std::size_t row = 0; row < grid_.exits.size(); ++row) {
    const QRect first = box_of(row, 0);
    painter.setPen(palette().color(QPalette::WindowText));
    if (first.height() >= letters.height() || row % 2 == 0)
      painter.drawText(QRect(0, first.center().y() - 9, area.left() - 6, 18),
                       Qt::AlignRight | Qt::AlignVCenter, tr("exit %1").arg(grid_.exits[row]));
    for (std::size_t column = 0; column < grid_.columns.size(); ++column) {
      const QRect box = box_of(row, column);
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
    const QRect box = box_of(0, column);
    painter.drawText(
        QRect(box.left(), area.bottom() + 4, box.width(), 20), Qt::AlignCenter,
        letters.elidedText(QString::fromStdString(grid_.columns[column]), Qt::ElideRight, box.width() - 2));
  }
  painter.setPen(QPen(cursor_color(is_dark(palette())), hasFocus() ? 2.5 : 1.0));
  painter.setBrush(Qt::NoBrush);
  const std::size_t place = current().value_or(0);
  painter.drawRect(box_of(place / grid_.columns.size(), place % grid_.columns.size()));
}

}  // namespace draftscope::gui
