// SPDX-License-Identifier: GPL-3.0-or-later
#include "chart_plot.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPaintEngine>
#include <QPainter>
#include <cmath>

#include "charts/chart_drawing.h"
#include "widgets/habits.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr double reach = 14.0;  // Maximum distance in pixels from pointer to point.

bool is_arrow(int key) {
  return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
}

/// Whether painting the widget now goes into a file of texts and lines.
bool paints_vectors(QPaintDevice& widget) {
  const QPainter painter(&widget);
  return painter.paintEngine()->type() != QPaintEngine::Raster;
}

}  // namespace

ChartPlot::ChartPlot(const QString& name, QWidget* parent) : QCustomPlot(parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumWidth(240);
  connect(this, &QCustomPlot::afterReplot, this, [this] { is_to_replot_ = false; });
}

void ChartPlot::set_chart(Chart chart) {
  chart_ = std::move(chart);
  if (place_ && !is_in(chart_, *place_)) place_.reset();
  QStringList spoken{chart_.name};
  // Arrow keys read the points beyond these.
  constexpr qsizetype max_spoken = 20;
  for (std::size_t panel = 0; panel < chart_.panels.size(); ++panel)
    for (std::size_t series = 0; series < chart_.panels[panel].series.size(); ++series)
      for (std::size_t point = 0; point < chart_.panels[panel].series[series].x.size(); ++point)
        if (spoken.size() < max_spoken)
          spoken << words_of(chart_, {panel, series, point}).replace(u'\n', QStringLiteral(", "));
  setAccessibleDescription(spoken.join(QStringLiteral("; ")));
  redraw();
}

void ChartPlot::redraw() {
  drawn_width_ = width();
  draw_chart(*this, chart_, {.palette = palette(), .font = font(), .size = size(), .has_legend = true});
  setMinimumHeight(chart_.empty() ? 60 : min_chart_height(chart_, font(), std::max(width(), minimumWidth())));
  replot_when_painted();
}

void ChartPlot::replot_when_painted() {
  is_to_replot_ = true;
  update();
}

QPointF ChartPlot::pixel_of(const ChartPlace& place) const {
  const QCPAxisRect* area = axisRect(static_cast<int>(place.panel));
  const ChartPanel& panel = chart_.panels[place.panel];
  const bool is_cell = place.series == ChartPlace::of_cells;
  const double x = is_cell ? panel.cells[place.point].column : panel.series[place.series].x[place.point];
  const double y = is_cell ? panel.cells[place.point].row : panel.series[place.series].y[place.point];
  return {area->axis(QCPAxis::atBottom)->coordToPixel(x), area->axis(QCPAxis::atLeft)->coordToPixel(y)};
}

std::optional<ChartPlace> ChartPlot::place_at(const QPointF& at) const {
  std::optional<ChartPlace> nearest;
  double least = reach;
  for (std::size_t panel = 0; panel < chart_.panels.size(); ++panel) {
    const QCPAxisRect* area = axisRect(static_cast<int>(panel));
    if (area == nullptr || !area->rect().contains(at.toPoint())) continue;
    const ChartPanel& of = chart_.panels[panel];
    for (std::size_t i = 0; i < of.cells.size(); ++i) {
      const double column = area->axis(QCPAxis::atBottom)->pixelToCoord(at.x());
      const double row = area->axis(QCPAxis::atLeft)->pixelToCoord(at.y());
      if (std::lround(column) == of.cells[i].column && std::lround(row) == of.cells[i].row)
        return ChartPlace{panel, ChartPlace::of_cells, i};
    }
    for (std::size_t series = 0; series < of.series.size(); ++series) {
      // A line is hit anywhere along it, at the point with the nearest key.
      const bool is_line =
          of.series[series].mark != ChartMark::points && of.series[series].mark != ChartMark::bars;
      for (std::size_t point = 0; point < of.series[series].x.size(); ++point) {
        const QPointF apart = pixel_of({panel, series, point}) - at;
        const double distance = is_line ? 0.2 * std::abs(apart.y()) + std::abs(apart.x())
                                : of.series[series].mark == ChartMark::bars
                                    ? std::abs(of.has_values_along_x ? apart.y() : apart.x())
                                    : std::hypot(apart.x(), apart.y());
        if (!(distance < least)) continue;
        least = distance;
        nearest = ChartPlace{panel, series, point};
      }
    }
  }
  return nearest;
}

void ChartPlot::go_to(const ChartPlace& place) {
  place_ = place;
  const QString words = words_of(chart_, place);
  setAccessibleDescription(words);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  if (isVisible()) QToolTip::showText(mapToGlobal(pixel_of(place).toPoint()), words, this);
  update();
}

void ChartPlot::frame_cell(std::optional<QPoint> cell) {
  framed_ = cell;
  update();
}

std::optional<ChartPlace> ChartPlot::begin() const {
  if (framed_ && !chart_.empty()) {
    const std::vector<ChartCell>& cells = chart_.panels.front().cells;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (QPoint(cells[i].column, cells[i].row) == *framed_) return ChartPlace{0, ChartPlace::of_cells, i};
  }
  return first_place(chart_);
}

void ChartPlot::paint_frame(QPainter& painter) const {
  if (!framed_ || chart_.empty() || chart_.panels.front().cells.empty()) return;
  const QCPAxisRect* area = axisRect(0);
  const QCPAxis* x = area->axis(QCPAxis::atBottom);
  const QCPAxis* y = area->axis(QCPAxis::atLeft);
  const QRectF cell(QPointF(x->coordToPixel(framed_->x() - 0.5), y->coordToPixel(framed_->y() - 0.5)),
                    QPointF(x->coordToPixel(framed_->x() + 0.5), y->coordToPixel(framed_->y() + 0.5)));
  if (!area->rect().contains(cell.center().toPoint())) return;
  painter.setPen(QPen(palette().color(QPalette::Base), 5.0));
  painter.drawRect(cell);
  painter.setPen(QPen(cursor_color(is_dark(palette())), 3.0));
  painter.drawRect(cell);
}

bool ChartPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const std::optional<ChartPlace> place = place_at(help->pos());
  show_tip(*help, *this, place ? words_of(chart_, *place) : QString());
  return true;
}

void ChartPlot::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  QCustomPlot::mousePressEvent(event);
}

void ChartPlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  constexpr int still = 4;
  if (event->button() != Qt::LeftButton || (event->pos() - pressed_).manhattanLength() > still) return;
  if (const std::optional<ChartPlace> place = place_at(event->pos())) {
    go_to(*place);
    emit chosen(*place);
  }
}

void ChartPlot::wheelEvent(QWheelEvent* event) {
  // Let the page scroll.
  event->ignore();
}

void ChartPlot::keyPressEvent(QKeyEvent* event) {
  const bool is_choice = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!is_arrow(event->key()) && !is_choice) return QCustomPlot::keyPressEvent(event);
  if (is_choice) {
    if (place_) emit chosen(*place_);
    return;
  }
  const std::optional<ChartPlace> first = begin();
  if (!first) return QCustomPlot::keyPressEvent(event);
  go_to(place_ ? next_place(chart_, *place_, static_cast<Qt::Key>(event->key())) : *first);
}

void ChartPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  update();
}

void ChartPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  update();
}

void ChartPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) redraw();
}

void ChartPlot::resizeEvent(QResizeEvent* /*event*/) {
  // QCustomPlot would replot here for every intermediate size, visible or not.
  setViewport(rect());
  replot_when_painted();
  if (width() == drawn_width_ || chart_.empty()) return;
  // The width decides the form of legend and names.
  redraw();
}

void ChartPlot::paintEvent(QPaintEvent* event) {
  if (is_to_replot_) replot(QCustomPlot::rpQueuedRefresh);
  if (paints_vectors(*this)) {
    QCPPainter painter(this);
    painter.setMode(QCPPainter::pmVectorized);
    toPainter(&painter, width(), height());
  } else {
    QCustomPlot::paintEvent(event);
  }
  QPainter painter(this);
  paint_frame(painter);
  if (!hasFocus()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(palette().color(QPalette::Highlight), 2.0));
  painter.drawRect(rect().adjusted(1, 1, -1, -1));
  if (!place_ || !is_in(chart_, *place_)) return;
  painter.setPen(QPen(cursor_color(is_dark(palette())), 2.0));
  painter.drawEllipse(pixel_of(*place_), 8.0, 8.0);
}

}  // namespace draftscope::gui
