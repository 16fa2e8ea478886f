// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbered_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <optional>

#include "views/decisions/decision_plot.h"
#include "views/decisions/quarter_lines.h"
#include "widgets/legend_row.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

NumberedPlot::NumberedPlot(QWidget* parent) : KeyboardPlot(tr("Decisions by number"), parent) {}

void NumberedPlot::show_picture(NumberedPicture picture) {
  picture_ = std::move(picture);
  forget_place();
}

QRect NumberedPlot::plot_area() const {
  return rect().adjusted(64, 26, -16, -42);
}

double NumberedPlot::x_of(std::size_t place) const {
  const QRect area = plot_area();
  return area.left() + (static_cast<double>(place) + 0.5) /
                           static_cast<double>(std::max<std::size_t>(places(), 1)) * area.width();
}

double NumberedPlot::y_of(double value) const {
  const QRect area = plot_area();
  return area.bottom() - std::clamp(value / picture_.top, 0.0, 1.0) * (area.height() - 1);
}

std::optional<std::size_t> NumberedPlot::place_at(const QPoint& point) const {
  const QRect area = plot_area();
  const double share =
      std::clamp((point.x() - area.left()) / static_cast<double>(std::max(area.width(), 1)), 0.0, 1.0);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(places())), places() - 1);
}

QString NumberedPlot::words_of(std::size_t place) const {
  return QString::fromStdString(picture_.details[place]);
}

void NumberedPlot::paint_axes(QPainter& painter) const {
  const QRect area = plot_area();
  paint_quarter_lines(painter, palette(), area, 0.0, picture_.top);
  int widest = 1;
  for (const std::string& label : picture_.labels)
    widest = std::max(widest, painter.fontMetrics().horizontalAdvance(QString::fromStdString(label)) + 12);
  const auto step = static_cast<std::size_t>(
      std::max(1.0, std::ceil(static_cast<double>(widest) * static_cast<double>(places()) / area.width())));
  for (std::size_t place = 0; place < places(); place += step)
    painter.drawText(QRectF(x_of(place) - widest / 2.0, area.bottom() + 3, widest, 18), Qt::AlignCenter,
                     QString::fromStdString(picture_.labels[place]));
  painter.drawText(QRect(area.left(), area.bottom() + 21, area.width(), 18), Qt::AlignCenter,
                   QString::fromStdString(picture_.x_title));
}

void NumberedPlot::paint_line(QPainter& painter, std::size_t line) const {
  const std::vector<double>& values = picture_.lines[line].values;
  const QColor color = series_color(line + 1, is_dark(palette()));
  std::optional<QPointF> last;
  const bool has_words = !picture_.word.empty() && line == 0;
  for (std::size_t place = 0; place < places(); ++place) {
    if (std::isnan(values[place])) continue;
    const QPointF at(x_of(place), y_of(values[place]));
    painter.setPen(QPen(color, 1.6));
    // Trials stand alone, what is best so far goes on.
    if (last && !has_words) painter.drawLine(*last, at);
    if (has_words || picture_.word.empty())
      paint_decision_mark(painter, at, 3.5, has_words ? picture_.word[place] : 0, true, color);
    last = at;
  }
}

void NumberedPlot::paint_legend(QPainter& painter) const {
  LegendRow legend(painter, palette(), QRect(plot_area().left(), 0, plot_area().width(), plot_area().top()));
  for (std::size_t line = 0; line < picture_.lines.size(); ++line)
    legend.add(series_color(line + 1, is_dark(palette())), QString::fromStdString(picture_.lines[line].name));
  for (std::size_t word = 0; word < picture_.words.size(); ++word)
    legend.add_sign(QString::fromStdString(picture_.words[word]), [&](const QRect& sign) {
      paint_decision_mark(painter, QRectF(sign).center(), 4, word, true,
                          palette().color(QPalette::WindowText));
    });
}

void NumberedPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (places() == 0 || plot_area().width() < 10) return;
  paint_axes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t line = 0; line < picture_.lines.size(); ++line) paint_line(painter, line);
  paint_legend(painter);
  painter.setPen(QPen(cursor_color(is_dark(palette())), hasFocus() ? 2.0 : 1.0));
  const double x = x_of(current().value_or(0));
  painter.drawLine(QPointF(x, plot_area().top()), QPointF(x, plot_area().bottom()));
}

}  // namespace draftscope::gui
