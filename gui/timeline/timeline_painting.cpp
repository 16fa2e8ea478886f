// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of the timeline.
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "timeline/lane_painter.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_bar.h"
#include "timeline_view.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int min_tick_pixels = 90;
constexpr int sign_room = 16;

/// Paints "▸" or "▾" as a picture, so that no font needs them.
void paint_sign(QPainter& painter, const QPointF& middle, bool is_collapsed, const QColor& color) {
  constexpr double half = 4.0;
  const QPolygonF right{
      {middle + QPointF(-half / 2, -half), middle + QPointF(half / 2, 0), middle + QPointF(-half / 2, half)}};
  const QPolygonF down{
      {middle + QPointF(-half, -half / 2), middle + QPointF(half, -half / 2), middle + QPointF(0, half / 2)}};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(is_collapsed ? right : down);
  painter.restore();
}

void paint_pin(QPainter& painter, const QPointF& middle, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(middle + QPointF(0, -2), 3.0, 3.0);
  painter.fillRect(QRectF(middle + QPointF(-0.5, 0), QSizeF(1.0, 6.0)), color);
  painter.restore();
}

}  // namespace

int TimelineView::top_of(const LaneRow& row) const {
  return axis_height + row.top - (row.is_pinned ? 0 : verticalScrollBar()->value());
}

void TimelineView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (!state_.recording()) return;
  const TimeAxis axis = this->axis();
  if (state_.timeline()) {
    const int top = top_of_lanes();
    painter.setClipRect(0, top, viewport()->width(), viewport()->height() - top);
    paint_rows(painter, axis, false);
    painter.setClipRect(0, axis_height, viewport()->width(), rows_.pinned_height());
    paint_rows(painter, axis, true);
    painter.setClipping(false);
  }
  paint_overlays(painter, axis);
  if (rows_.pinned_height() > 0)
    painter.fillRect(0, top_of_lanes() - 2, viewport()->width(), 1, palette().color(QPalette::Mid));
  paint_axis(painter, axis);
  marks_.paint(painter, axis, std::min(viewport()->height(), axis_height + rows_.height()), palette());
}

void TimelineView::paint_rows(QPainter& painter, const TimeAxis& axis, bool pinned) const {
  LabelBatch labels(painter, label_font_);
  for (const LaneRow& row : rows_.rows()) {
    const int top = top_of(row);
    if (row.is_pinned != pinned || top + row.height - 3 < axis_height || top > viewport()->height()) continue;
    paint_row(painter, row, axis, labels);
    paint_header(painter, row);
  }
  labels.draw();
}

void TimelineView::paint_row(QPainter& painter, const LaneRow& row, const TimeAxis& axis,
                             LabelBatch& labels) const {
  const Timeline& timeline = *state_.timeline();
  const bool dark = is_dark(palette());
  const QRect box(axis.left, top_of(row), axis.width, row.height - 2);
  if (row.kind == LaneRow::RowKind::counter) {
    paint_counter(painter, timeline.counters[row.index], axis, box, phase_color(traces::Phase::verify, dark));
    return;
  }
  LaneLook look{.dark = dark,
                .back = palette().color(QPalette::Base),
                .run_index = rows_.groups()[row.group].run_index,
                .opened = state_.recording().get(),
                .labels = &labels};
  if (!matches_.empty()) look.matches = &matches_;
  if (left_) look.left = &*left_;
  paint_lane(painter, timeline, timeline.lanes[row.index], axis, box, look);
}

void TimelineView::paint_header(QPainter& painter, const LaneRow& row) const {
  const QRect header(0, top_of(row), header_width_, row.height);
  const ShownGroup& group = rows_.groups()[row.group];
  const QColor ink = palette().color(QPalette::WindowText);
  painter.fillRect(header, palette().color(QPalette::Window));
  int right = header.right() - 6;
  if (row.begins_group && rows_.is_collapsible(group))
    paint_sign(painter, QPointF(9, header.center().y()), rows_.is_collapsed(group), ink);
  if (row.begins_group && rows_.is_pinned(group)) {
    paint_pin(painter, QPointF(right - 4, header.center().y() - 1), ink);
    right -= sign_room;
  }
  const bool is_counter = row.kind == LaneRow::RowKind::counter;
  // Lanes below the first one of a track or of decisions have no title; their place identifies them.
  const bool is_nested = !row.begins_group && state_.timeline()->lanes[row.index].depth > 0;
  painter.setPen(ink);
  if (!is_nested) {
    const int left = row.begins_group ? sign_room : 2 * sign_room;
    const QString title = row.begins_group && label_font_.width(title_of(row, true)) <= right - left &&
                                  group.kind != ShownGroup::GroupKind::run
                              ? title_of(row, true)
                              : title_of(row, false);
    painter.drawText(QRect(left, header.top(), right - left, header.height()),
                     is_counter ? Qt::AlignTop : Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(title, Qt::ElideRight, right - left));
  }
  if (is_counter) {
    const auto [low, high] = counter_range(state_.timeline()->counters[row.index]);
    painter.drawText(header.adjusted(sign_room, 0, -6, -2), Qt::AlignBottom,
                     tr("%1 to %2").arg(number_text(low), number_text(high)));
  }
  const auto current = current_row();
  if (!hasFocus() || !current || &rows_.rows()[*current] != &row) return;
  painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(header.adjusted(1, 1, -1, -1));
}

void TimelineView::paint_axis(QPainter& painter, const TimeAxis& axis) const {
  painter.fillRect(0, 0, viewport()->width(), axis_height, palette().color(QPalette::Window));
  painter.setPen(palette().color(QPalette::WindowText));
  paint_ticks(painter, axis);
  painter.fillRect(0, 0, header_width_, axis_height, palette().color(QPalette::Window));
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(
      QRect(6, 0, header_width_ - 8, axis_height), Qt::AlignVCenter,
      painter.fontMetrics().elidedText(tr("%1 shown").arg(duration_text(axis.range.duration_ns())),
                                       Qt::ElideRight, header_width_ - 8));
  painter.fillRect(header_width_ - 1, 0, 1, viewport()->height(), palette().color(QPalette::Mid));
  if (hasFocus()) {
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRect(0, 0, viewport()->width(), axis_height).adjusted(1, 1, -1, -1));
  }
}

void TimelineView::paint_ticks(QPainter& painter, const TimeAxis& axis) const {
  const std::int64_t zero = state_.recording()->whole().start_ns;
  const auto least = static_cast<std::int64_t>(std::ceil(axis.ns_per_pixel() * min_tick_pixels));
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(least, 1));
  for (std::int64_t tick = (axis.range.start_ns - zero + step - 1) / step * step;
       zero + tick < axis.range.end_ns; tick += step) {
    const int x = static_cast<int>(axis.x(zero + tick));
    painter.drawLine(x, axis_height - 5, x, axis_height - 1);
    const QString words = tick_text(tick, step);
    // Half a number would be a wrong one.
    if (x + 3 + painter.fontMetrics().horizontalAdvance(words) <= viewport()->width())
      painter.drawText(QRect(x + 3, 0, min_tick_pixels, axis_height - 2), Qt::AlignLeft | Qt::AlignVCenter,
                       words);
  }
}

void TimelineView::paint_overlays(QPainter& painter, const TimeAxis& axis) const {
  painter.setClipRect(axis.left, axis_height, axis.width, viewport()->height() - axis_height);
  paint_selection(painter, axis);
  paint_cursor(painter, axis);
  paint_selected_slice(painter, axis);
  if (state_.timeline()) paint_launch(painter, axis);
  painter.setClipping(false);
}

void TimelineView::paint_time(QPainter& painter, const TimeAxis& axis, TimeRange time, const QColor& fill,
                              const QColor& line) const {
  const double from = axis.x(time.start_ns);
  const double to = std::max(axis.x(time.end_ns), from + 1);
  if (to <= axis.left || from >= axis.left + axis.width) return;
  const double left = std::max<double>(from, axis.left);
  const double right = std::min<double>(to, axis.left + axis.width);
  const int bottom = std::min(viewport()->height(), axis_height + rows_.height());
  painter.fillRect(QRectF(left, axis_height, right - left, bottom - axis_height), fill);
  if (!line.isValid()) return;
  painter.setPen(QPen(line, 1));
  painter.drawLine(QPointF(from, axis_height), QPointF(from, bottom));
  painter.drawLine(QPointF(to, axis_height), QPointF(to, bottom));
}

void TimelineView::paint_selection(QPainter& painter, const TimeAxis& axis) const {
  if (const auto& selection = state_.selection())
    paint_time(painter, axis, *selection, selection_color(is_dark(palette())), {});
}

void TimelineView::paint_cursor(QPainter& painter, const TimeAxis& axis) const {
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index) return;
  const traces::Round& row = state_.recording()->round(round_index);
  const QColor line = cursor_color(is_dark(palette()));
  QColor fill = line;
  fill.setAlpha(24);
  paint_time(painter, axis, {row.start_ns, row.end_ns}, fill, line);
}

void TimelineView::paint_selected_slice(QPainter& painter, const TimeAxis& axis) const {
  if (!selected_) return;
  const TimeRange time = time_of(*state_.timeline(), *selected_);
  painter.setPen(QPen(palette().color(QPalette::WindowText), 2));
  painter.setBrush(Qt::NoBrush);
  for (const LaneRow& row : rows_.rows()) {
    if (row.kind != LaneRow::RowKind::lane || row.index != selected_->lane) continue;
    const double from = std::max<double>(axis.x(time.start_ns), axis.left - 4);
    const double to = std::min<double>(axis.x(time.end_ns), axis.left + axis.width + 4);
    painter.drawRect(QRectF(from, top_of(row), std::max(to - from, 2.0), row.height - 3));
  }
}

void TimelineView::paint_launch(QPainter& painter, const TimeAxis& axis) const {
  if (!selected_ || !launch_) return;
  const Timeline& timeline = *state_.timeline();
  const auto place_of = [&](const SlicePlace& place) -> std::optional<QPointF> {
    const std::int64_t start_ns = time_of(timeline, place).start_ns;
    for (const LaneRow& row : rows_.rows())
      if (row.kind == LaneRow::RowKind::lane && row.index == place.lane) {
        const int half = row.height / 2;  // A whole pixel.
        return QPointF(axis.x(start_ns), top_of(row) + half);
      }
    return std::nullopt;
  };
  const auto from = place_of(*launch_);
  const auto to = place_of(*selected_);
  if (!from || !to) return;
  painter.setPen(QPen(cursor_color(is_dark(palette())), 1.5));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawLine(*from, *to);
  painter.setBrush(cursor_color(is_dark(palette())));
  painter.drawEllipse(*to, 3, 3);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace draftscope::gui
