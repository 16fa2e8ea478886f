// SPDX-License-Identifier: GPL-3.0-or-later
#include "roofline_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::RooflinePoint;
using speculation::Operation;

constexpr int roofline_left_margin = 70;
constexpr int roofline_top_margin = 30;
constexpr int roofline_bottom_margin = 44;
constexpr int roofline_legend_width = 190;
constexpr int legend_line = 20;
constexpr int legend_gap = 6;  // between what it explains
constexpr double radius = 6.0;

QString operation_text(Operation operation) {
  return QString::fromUtf8(speculation::operation_name(operation));
}

/// A shape of its own for each operation.
QPolygonF shape_of(Operation operation, const QPointF& at) {
  const int corners = 3 + static_cast<int>(operation);
  QPolygonF shape;
  for (int i = 0; i < corners; ++i) {
    constexpr double turn = 6.283185307179586;
    const double angle = turn * i / corners - turn / 4;
    shape << at + QPointF(radius * std::cos(angle), radius * std::sin(angle));
  }
  return shape;
}

void draw_mark(QPainter& painter, Operation operation, const QPointF& at, const QColor& color, bool is_filled,
               bool is_determined) {
  painter.setPen(QPen(color, 2.0, is_determined ? Qt::SolidLine : Qt::DotLine));
  painter.setBrush(is_filled ? QBrush(color) : Qt::NoBrush);
  painter.drawPolygon(shape_of(operation, at));
  painter.setBrush(Qt::NoBrush);
}

QString power_text(int power) {
  if (power >= 0 && power <= 4) return QString::number(static_cast<int>(std::pow(10.0, power)));
  if (power < 0 && power >= -3) return QString::number(std::pow(10.0, power));
  return QStringLiteral("1e%1").arg(power);
}

}  // namespace

QString words_of(const simulator::Roofline& roofline, const RooflinePoint& point) {
  return RooflinePlot::tr("%1, %2: %3 of %4 Gflop/s attainable")
      .arg(operation_text(point.operation),
           counted(point.rows, RooflinePlot::tr("1 row"), RooflinePlot::tr("%1 rows")),
           number_text(point.flops_per_ns()), number_text(roofline.attainable(point.intensity())));
}

void RooflinePlot::set_roofline(simulator::Roofline roofline, const QString& title) {
  roofline_ = std::move(roofline);
  title_ = title;
  set_message(roofline_.points.empty() || !(roofline_.bytes_per_ns > 0.0)
                  ? tr("No operation's time is known.")
                  : QString());
  if (!message().isEmpty()) return;
  double min_x = roofline_.points.front().intensity();
  double max_x = min_x;
  double min_y = roofline_.points.front().flops_per_ns();
  double max_y = min_y;
  QStringList spoken;
  for (const RooflinePoint& point : roofline_.points) {
    min_x = std::min(min_x, point.intensity());
    max_x = std::max(max_x, point.intensity());
    min_y = std::min(min_y, point.flops_per_ns());
    max_y = std::max({max_y, point.flops_per_ns(), roofline_.attainable(point.intensity())});
    spoken << words_of(roofline_, point);
  }
  if (roofline_.flops_per_ns) {
    // The ridge, where memory and arithmetic take as long, belongs into the picture.
    max_x = std::max(max_x, 1.5 * *roofline_.flops_per_ns / roofline_.bytes_per_ns);
    max_y = std::max(max_y, *roofline_.flops_per_ns);
  }
  const auto range = [](double least, double most) {
    const int first = static_cast<int>(std::floor(std::log10(least)));
    return Range{first, std::max(first + 1, static_cast<int>(std::ceil(std::log10(most) + 0.05)))};
  };
  intensities_ = range(min_x, max_x);
  rates_ = range(min_y, max_y);
  setAccessibleDescription(spoken.join(u"; "));
}

std::vector<Operation> RooflinePlot::operations() const {
  std::vector<Operation> list;
  for (const RooflinePoint& point : roofline_.points)
    if (list.empty() || list.back() != point.operation) list.push_back(point.operation);
  return list;
}

std::int32_t RooflinePlot::widest_rows() const {
  std::int32_t widest = 1;
  for (const RooflinePoint& point : roofline_.points) widest = std::max(widest, point.rows);
  return widest;
}

QSize RooflinePlot::min_picture_size() const {
  constexpr int min_plot_width = 180;
  constexpr int roof_lines = 3;
  const int mark_lines = 1 + (widest_rows() > 1 ? 1 : 0) + (roofline_.is_specified ? 0 : 1);
  return {roofline_left_margin + min_plot_width + roofline_legend_width,
          roofline_top_margin +
              (static_cast<int>(operations().size()) + mark_lines + roof_lines) * legend_line +
              2 * legend_gap};
}

QRectF RooflinePlot::area() const {
  return QRectF(rect()).adjusted(roofline_left_margin, roofline_top_margin, -roofline_legend_width,
                                 -roofline_bottom_margin);
}

QPointF RooflinePlot::place(double intensity, double flops_per_ns) const {
  const QRectF all = area();
  const double x = (std::log10(intensity) - intensities_.first) / (intensities_.last - intensities_.first);
  const double y = (std::log10(flops_per_ns) - rates_.first) / (rates_.last - rates_.first);
  return {all.left() + x * all.width(), all.bottom() - y * all.height()};
}

void RooflinePlot::paint_axes(QPainter& painter) const {
  const QRectF all = area();
  const QColor text = palette().color(QPalette::WindowText);
  for (int power = intensities_.first; power <= intensities_.last; ++power) {
    const double x = place(std::pow(10.0, power), std::pow(10.0, rates_.first)).x();
    painter.setPen(grid_color(palette()));
    painter.drawLine(QPointF(x, all.top()), QPointF(x, all.bottom()));
    painter.setPen(text);
    painter.drawText(QRectF(x - 30, all.bottom() + 3, 60, 18), Qt::AlignHCenter | Qt::AlignTop,
                     power_text(power));
  }
  for (int power = rates_.first; power <= rates_.last; ++power) {
    const double y = place(std::pow(10.0, intensities_.first), std::pow(10.0, power)).y();
    painter.setPen(grid_color(palette()));
    painter.drawLine(QPointF(all.left(), y), QPointF(all.right(), y));
    painter.setPen(text);
    painter.drawText(QRectF(18, y - 9, roofline_left_margin - 24, 18), Qt::AlignRight | Qt::AlignVCenter,
                     power_text(power));
  }
  paint_names(painter, all, title_, tr("arithmetic intensity, flop a byte"), tr("Gflop/s"));
}

void RooflinePlot::paint_roof(QPainter& painter) const {
  const double first = std::pow(10.0, intensities_.first);
  const double last = std::pow(10.0, intensities_.last);
  QPolygonF roof{place(first, roofline_.attainable(first))};
  if (roofline_.flops_per_ns) {
    const double ridge = *roofline_.flops_per_ns / roofline_.bytes_per_ns;
    if (ridge > first && ridge < last) roof << place(ridge, *roofline_.flops_per_ns);
  }
  roof << place(last, roofline_.attainable(last));
  painter.save();
  painter.setClipRect(area());
  painter.setPen(QPen(palette().color(QPalette::WindowText), 2.0,
                      roofline_.is_specified ? Qt::SolidLine : Qt::DashLine));
  painter.drawPolyline(roof);
  painter.restore();
}

void RooflinePlot::paint_point(QPainter& painter, const RooflinePoint& point) const {
  const QColor color = series_color(1 + static_cast<std::size_t>(point.operation), is_dark(palette()));
  const QPointF at = place(point.intensity(), point.flops_per_ns());
  QColor faint = color;
  faint.setAlpha(120);
  painter.setPen(QPen(faint, 1.0));
  painter.drawLine(at, place(point.intensity(), roofline_.attainable(point.intensity())));
  draw_mark(painter, point.operation, at, color, point.rows == 1,
            point.source == simulator::ParameterSource::trace || roofline_.is_specified);
}

void RooflinePlot::paint_legend(QPainter& painter) const {
  const bool dark = is_dark(palette());
  const QColor text = palette().color(QPalette::WindowText);
  const int left = width() - roofline_legend_width + 14;
  int y = roofline_top_margin;
  const auto line = [&](const QString& words, int indent = 22) {
    painter.setPen(text);
    painter.drawText(QRect(left + indent, y, roofline_legend_width - indent - 18, 18),
                     Qt::AlignLeft | Qt::AlignVCenter, words);
    y += legend_line;
  };
  for (const Operation operation : operations()) {
    draw_mark(painter, operation, QPointF(left + 8, y + 9),
              series_color(1 + static_cast<std::size_t>(operation), dark), true, true);
    line(operation_text(operation));
  }
  const std::int32_t widest = widest_rows();
  y += legend_gap;
  draw_mark(painter, Operation::qkv, QPointF(left + 8, y + 9), text, true, true);
  line(tr("1 row: a step"));
  if (widest > 1) {
    draw_mark(painter, Operation::qkv, QPointF(left + 8, y + 9), text, false, true);
    line(tr("%1 rows: verification").arg(widest));
  }
  if (!roofline_.is_specified) {
    draw_mark(painter, Operation::qkv, QPointF(left + 8, y + 9), text, false, false);
    line(tr("time not determined"));
  }
  y += legend_gap;
  line(roofline_.is_specified ? tr("roof: specification") : tr("roof: highest fitted"), 0);
  line(tr("%1 GB/s").arg(number_text(roofline_.bytes_per_ns)), 0);
  line(roofline_.flops_per_ns ? tr("%1 Gflop/s").arg(number_text(*roofline_.flops_per_ns))
                              : tr("no ceiling was reached"),
       0);
}

void RooflinePlot::paint(QPainter& painter) {
  if (roofline_.points.empty() || area().width() < 20.0 || area().height() < 20.0) return;
  paint_axes(painter);
  paint_roof(painter);
  for (const RooflinePoint& point : roofline_.points) paint_point(painter, point);
  paint_legend(painter);
}

QString RooflinePlot::tooltip_at(const QPoint& point) const {
  const RooflinePoint* nearest = nullptr;
  double least = 14.0;
  for (const RooflinePoint& candidate : roofline_.points) {
    const QPointF at = place(candidate.intensity(), candidate.flops_per_ns()) - point;
    const double distance = std::hypot(at.x(), at.y());
    if (distance >= least) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest == nullptr ? QString() : words_of(roofline_, *nearest);
}

}  // namespace draftscope::gui
