// SPDX-License-Identifier: GPL-3.0-or-later
#include "heat_map_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "charts/chart_colors.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int heat_map_left_margin = 54;
constexpr int heat_map_top_margin = 30;
constexpr int heat_map_bottom_margin = 44;
constexpr int heat_map_legend_width = 150;
constexpr int min_scale_height = 30;
constexpr int signs_height = 120;          // of the legend's below the scale, with a gap
constexpr double min_number_width = 36.0;  // of a cell that has its number written in it
constexpr double mark_inset = 7.0;         // of rings and the diamond from a cell's side

QPolygonF diamond(const QPointF& center) {
  constexpr double size = 5.0;
  return QPolygonF({center + QPointF(0, -size), center + QPointF(size, 0), center + QPointF(0, size),
                    center + QPointF(-size, 0)});
}

}  // namespace

void HeatMapPlot::set_map(HeatMap map, const QString& title) {
  map_ = std::move(map);
  title_ = title;
  intervals_.clear();
  wanted_ = {0, 0};
  hovered_ = {0, 0};
  limit_ = std::max(limit_, scale_limit_for(1.0));
  for (const HeatCell& cell : map_.cells)
    if (cell.refusal.empty()) limit_ = std::max(limit_, scale_limit_for(cell.speedup));
  const HeatCell* best = map_.best();
  set_message(best == nullptr && !map_.cells.empty() ? QString::fromStdString(map_.cells.front().refusal)
                                                     : QString());
  describe();
}

void HeatMapPlot::set_marks(HeatMapMarks marks) {
  marks_ = std::move(marks);
  describe();
  update();
}

void HeatMapPlot::describe() {
  const HeatCell* best = map_.best();
  if (best == nullptr) return;
  QString words =
      tr("fastest: exit %1, γ %2, %3").arg(best->exit).arg(best->gamma).arg(speedup_text(best->speedup));
  if (marks_.current) {
    const auto [exit, gamma] = *marks_.current;
    if (exit >= 1 && exit <= map_.exits && gamma >= 1 && gamma <= map_.lengths)
      words += tr("; current: exit %1, γ %2, %3")
                   .arg(exit)
                   .arg(gamma)
                   .arg(speedup_text(map_.at(exit, gamma).speedup));
  }
  setAccessibleDescription(words);
}

QSize HeatMapPlot::min_picture_size() const {
  constexpr int min_map_width = 220;
  return {heat_map_left_margin + min_map_width + heat_map_legend_width,
          heat_map_top_margin + min_scale_height + signs_height};
}

QRectF HeatMapPlot::area() const {
  return QRectF(rect()).adjusted(heat_map_left_margin, heat_map_top_margin, -heat_map_legend_width,
                                 -heat_map_bottom_margin);
}

bool HeatMapPlot::has_room() const {
  return !map_.cells.empty() && area().width() >= 20.0 && area().height() >= 20.0;
}

QRectF HeatMapPlot::cell_rect(std::int32_t exit, std::int32_t gamma) const {
  const QRectF all = area();
  const double width = all.width() / std::max(map_.exits, 1);
  const double height = all.height() / std::max(map_.lengths, 1);
  return {all.left() + (exit - 1) * width, all.bottom() - gamma * height, width, height};
}

const HeatCell* HeatMapPlot::cell_at(const QPointF& point) const {
  const QRectF all = area();
  if (map_.cells.empty() || !all.contains(point)) return nullptr;
  const auto exit = 1 + static_cast<std::int32_t>((point.x() - all.left()) / all.width() * map_.exits);
  const auto gamma = 1 + static_cast<std::int32_t>((all.bottom() - point.y()) / all.height() * map_.lengths);
  return &map_.at(std::clamp(exit, 1, map_.exits), std::clamp(gamma, 1, map_.lengths));
}

void HeatMapPlot::paint_cell(QPainter& painter, const HeatCell& cell) const {
  const QRectF place = cell_rect(cell.exit, cell.gamma);
  const bool has_gaps = place.width() > 6.0 && place.height() > 6.0;
  const QRectF filled = has_gaps ? place.adjusted(0.5, 0.5, -0.5, -0.5) : place;
  if (!cell.refusal.empty()) {
    painter.fillRect(filled, QBrush(grid_color(palette()), Qt::DiagCrossPattern));
    return;
  }
  const QColor color = diverging_color(cell.speedup, limit_, is_dark(palette()));
  painter.fillRect(filled, color);
  const QColor ink = ink_on(color);
  if (cell.speedup < 1.0) {
    QColor hatch = ink;
    hatch.setAlpha(70);
    painter.fillRect(filled, QBrush(hatch, Qt::BDiagPattern));
  }
  // Numbers that would touch each other can't be read.
  constexpr double min_number_height = 12.0;
  if (place.width() < min_number_width ||
      place.height() < std::max<double>(min_number_height, painter.fontMetrics().ascent() + 1.0))
    return;
  painter.setPen(ink);
  painter.drawText(place, Qt::AlignCenter, QString::number(cell.speedup, 'f', 2));
}

void HeatMapPlot::paint_axes(QPainter& painter) const {
  const QRectF all = area();
  painter.setPen(palette().color(QPalette::WindowText));
  constexpr int min_pixels = 26;
  const auto step = [](double pixels) {
    return static_cast<std::int32_t>(
        tick_step_ns(static_cast<std::int64_t>(std::ceil(min_pixels / std::max(pixels, 0.1)))));
  };
  const std::int32_t exits = step(all.width() / std::max(map_.exits, 1));
  for (std::int32_t exit = 1; exit <= map_.exits; ++exit) {
    if (exits > 1 && exit % exits != 0) continue;
    const QRectF cell = cell_rect(exit, 1);
    painter.drawText(QRectF(cell.center().x() - 20, all.bottom() + 3, 40, 18),
                     Qt::AlignHCenter | Qt::AlignTop, QString::number(exit));
  }
  const std::int32_t lengths = step(all.height() / std::max(map_.lengths, 1) * 1.6);
  for (std::int32_t gamma = 1; gamma <= map_.lengths; ++gamma) {
    if (lengths > 1 && gamma % lengths != 0) continue;
    const QRectF cell = cell_rect(1, gamma);
    painter.drawText(QRectF(0, cell.center().y() - 9, heat_map_left_margin - 6, 18),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(gamma));
  }
  paint_names(painter, all, title_, tr("exit layer E of the recorded model"), tr("draft length γ"));
}

void HeatMapPlot::paint_marks(QPainter& painter) {
  if (!has_room()) return;
  const auto ring = [&](const QPointF& center, double radius) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Qt::black, 4.0));
    painter.drawEllipse(center, radius, radius);
    painter.setPen(QPen(Qt::white, 2.0));
    painter.drawEllipse(center, radius, radius);
  };
  for (const RecordedPoint& point : marks_.recorded) {
    if (point.exit < 1 || point.exit > map_.exits || point.gamma < 1 || point.gamma > map_.lengths) continue;
    const QRectF cell = cell_rect(point.exit, point.gamma);
    // Beside the number, where there is room.
    const bool has_room = cell.width() >= min_number_width;
    const QPointF center(has_room ? cell.left() + mark_inset : cell.center().x(), cell.center().y());
    ring(center, std::clamp(std::min(cell.width(), cell.height()) * 0.5 - 2.0, 3.0, 4.5));
  }
  if (const HeatCell* best = map_.best()) {
    const QRectF cell = cell_rect(best->exit, best->gamma);
    const QPointF center(cell.right() - std::min(mark_inset, cell.width() / 2), cell.center().y());
    painter.setPen(QPen(Qt::white, 1.0));
    painter.setBrush(Qt::black);
    painter.drawPolygon(diamond(center));
  }
  if (!marks_.current) return;
  const auto [exit, gamma] = *marks_.current;
  if (exit < 1 || exit > map_.exits || gamma < 1 || gamma > map_.lengths) return;
  const QRectF cell = cell_rect(exit, gamma).adjusted(-1, -1, 1, 1);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette().color(QPalette::Base), 5.0));
  painter.drawRect(cell);
  painter.setPen(QPen(cursor_color(is_dark(palette())), 3.0));
  painter.drawRect(cell);
}

void HeatMapPlot::paint_legend(QPainter& painter) const {
  const int left = width() - heat_map_legend_width + 16;
  const int height = std::clamp(this->height() - heat_map_top_margin - signs_height, min_scale_height, 160);
  paint_scale(painter, QRect(left, heat_map_top_margin, 16, height));
  paint_signs(painter, left, heat_map_top_margin + height + 14);
}

void HeatMapPlot::paint_scale(QPainter& painter, const QRect& box) const {
  const bool dark = is_dark(palette());
  const int bottom = box.top() + box.height() - 1;
  const auto speedup_at = [&](double place) { return std::pow(limit_, 2.0 * place - 1.0); };
  for (int y = 0; y < box.height(); ++y)
    painter.fillRect(box.left(), bottom - y, box.width(), 1,
                     diverging_color(speedup_at(y / std::max(1.0, box.height() - 1.0)), limit_, dark));
  painter.setPen(palette().color(QPalette::WindowText));
  const auto tick = [&](double place, const QString& words) {
    const int y = bottom - static_cast<int>(place * (box.height() - 1));
    painter.drawLine(box.left() + 16, y, box.left() + 20, y);
    painter.drawText(QRect(box.left() + 24, y - 9, heat_map_legend_width - 42, 18),
                     Qt::AlignLeft | Qt::AlignVCenter, words);
  };
  tick(1.0, speedup_text(limit_));
  constexpr int lines_apart = 34;
  if (box.height() >= lines_apart) tick(0.5, tr("1× vanilla"));
  tick(0.0, speedup_text(1.0 / limit_));
}

void HeatMapPlot::paint_signs(QPainter& painter, int left, int top) const {
  const QColor text = palette().color(QPalette::WindowText);
  const auto entry = [&](const QString& words, const auto& draw) {
    draw(QPointF(left + 8, top + 8));
    painter.setPen(text);
    painter.drawText(QRect(left + 24, top, heat_map_legend_width - 42, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     words);
    top += 18;
  };
  painter.setBrush(Qt::NoBrush);
  entry(tr("current"), [&](const QPointF& at) {
    painter.setPen(QPen(cursor_color(is_dark(palette())), 3.0));
    painter.drawRect(QRectF(at.x() - 6, at.y() - 5, 12, 10));
  });
  entry(tr("recorded"), [&](const QPointF& at) {
    painter.setPen(QPen(text, 2.0));
    painter.drawEllipse(at, 5.0, 5.0);
  });
  entry(tr("fastest"), [&](const QPointF& at) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(text);
    painter.drawPolygon(diamond(at));
    painter.setBrush(Qt::NoBrush);
  });
  const auto filled = [&](Qt::BrushStyle style) {
    return [&painter, &text, style](const QPointF& at) {
      painter.fillRect(QRectF(at.x() - 7, at.y() - 6, 14, 12), QBrush(text, style));
    };
  };
  entry(tr("no answer"), filled(Qt::DiagCrossPattern));
  entry(tr("slower"), filled(Qt::BDiagPattern));
}

void HeatMapPlot::paint(QPainter& painter) {
  if (!has_room()) return;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const HeatCell& cell : map_.cells) paint_cell(painter, cell);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_axes(painter);
  paint_legend(painter);
}

QString HeatMapPlot::words_of(const HeatCell& cell) const {
  const QString strategy = QString::fromStdString(cell.strategy);
  if (!cell.refusal.empty())
    return tr("%1: no answer\n%2").arg(strategy, QString::fromStdString(cell.refusal));
  QString words = tr("%1: %2 (%3 rounds)")
                      .arg(strategy, speedup_text(cell.speedup),
                           QString::fromUtf8(answer_status_name(cell.status).data()));
  const auto interval = intervals_.find({cell.exit, cell.gamma});
  words += u'\n' + (interval == intervals_.end() ? tr("its interval is being computed …") : interval->second);
  for (const RecordedPoint& recorded : marks_.recorded)
    if (recorded.exit == cell.exit && recorded.gamma == cell.gamma)
      words += tr("\nrecorded: %1").arg(QString::fromStdString(recorded.strategy));
  return words;
}

QString HeatMapPlot::tooltip_at(const QPoint& point) const {
  const HeatCell* cell = cell_at(point);
  return cell == nullptr ? QString() : words_of(*cell);
}

bool HeatMapPlot::event(QEvent* event) {
  const bool is_done = WhatIfPicture::event(event);
  if (event->type() != QEvent::ToolTip || !message().isEmpty()) return is_done;
  const auto* help = static_cast<QHelpEvent*>(event);
  const HeatCell* cell = cell_at(help->pos());
  hovered_ = cell == nullptr ? std::pair(0, 0) : std::pair(cell->exit, cell->gamma);
  hovered_at_ = help->globalPos();
  if (cell == nullptr || !cell->refusal.empty() || intervals_.contains(hovered_)) return is_done;
  // Asking again while it is being computed would begin it anew.
  if (std::exchange(wanted_, hovered_) != hovered_) emit interval_wanted(cell->exit, cell->gamma);
  return is_done;
}

void HeatMapPlot::set_interval(int exit, int gamma, const QString& words) {
  if (exit < 1 || exit > map_.exits || gamma < 1 || gamma > map_.lengths) return;
  intervals_[{exit, gamma}] = words;
  // The tool tip that waits for it says it.
  if (hovered_ == std::pair(exit, gamma) && QToolTip::isVisible())
    QToolTip::showText(hovered_at_, words_of(map_.at(exit, gamma)), this);
}

void HeatMapPlot::mousePressEvent(QMouseEvent* event) {
  if (const HeatCell* cell = message().isEmpty() ? cell_at(event->position()) : nullptr)
    emit chosen(cell->exit, cell->gamma);
}

void HeatMapPlot::keyPressEvent(QKeyEvent* event) {
  if (!marks_.current || map_.cells.empty()) return QWidget::keyPressEvent(event);
  auto [exit, gamma] = *marks_.current;
  switch (event->key()) {
    case Qt::Key_Left:
      --exit;
      break;
    case Qt::Key_Right:
      ++exit;
      break;
    case Qt::Key_Up:
      ++gamma;
      break;
    case Qt::Key_Down:
      --gamma;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  emit chosen(std::clamp(exit, 1, map_.exits), std::clamp(gamma, 1, map_.lengths));
}

}  // namespace draftscope::gui
