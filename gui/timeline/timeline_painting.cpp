// SPDX-License-Identifier: GPL-3.0-or-later
// How the timeline is painted.
#include <QImage>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "timeline/lane_painter.h"
#include "timeline/timeline_bar.h"
#include "timeline/timeline_measures.h"
#include "timeline_view.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int min_tick_pixels = 90;
/// Borders of stretches that are narrower are left out.
constexpr double min_stretch_pixels = 8.0;
constexpr int border_alpha = 110;
/// Borders that are further from one another are cheaper drawn each for itself.
constexpr int max_joined_pixels = 100;
constexpr int sign_room = 16;

/// "▸" or "▾" as a picture, whatever the font has.
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

/// Lines through pixels of rising x, as pictures of all of them from the top down: the pixels of one line lie
/// far from one another in memory, and each line for itself, or boxes of see-through colour, would take many
/// times as long.
void paint_lines(QPainter& painter, std::span<const int> places, int top, int bottom, const QColor& color) {
  constexpr int rows = 16;
  QImage lines(places.back() + 1 - places.front(), rows, QImage::Format_ARGB32_Premultiplied);
  lines.fill(Qt::transparent);
  for (const int place : places)
    for (int row = 0; row < rows; ++row) lines.setPixelColor(place - places.front(), row, color);
  for (; top < bottom; top += rows)
    painter.drawImage(QPoint(places.front(), top), lines,
                      QRect(0, 0, lines.width(), std::min(rows, bottom - top)));
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

bool TimelineView::shows_run(const LaneRow& row, std::size_t run_index) const {
  return mode() != TimelineMode::aligned || row.run_index == run_index;
}

const CutSums& TimelineView::sums_of(const LaneRow& row) const {
  const auto [sums, is_new] = sums_.try_emplace({row.index, row.run_index});
  if (is_new) sums->second = CutSums(state_.timeline()->lanes[row.index], shown_.of(row.run_index));
  return sums->second;
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
  const CutTime& time = shown_.of(row.run_index);
  if (row.kind == LaneRow::RowKind::counter) {
    paint_counter(painter, timeline.counters[row.index], time, axis, box,
                  phase_color(traces::Phase::verify, dark));
    return;
  }
  LaneLook look{.dark = dark,
                .back = palette().color(QPalette::Base),
                .run_index = row.run_index,
                .opened = state_.recording().get(),
                .labels = &labels};
  if (!matches_.empty()) look.matches = &matches_;
  if (left_) look.left = &*left_;
  paint_lane(painter, timeline, timeline.lanes[row.index],
             {time, [this, &row]() -> const CutSums& { return sums_of(row); }}, axis, box, look);
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
  // Lanes below the first of a track or of decisions are told by their place.
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
  if (mode() == TimelineMode::aligned)
    paint_slots(painter, axis);
  else
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
  const std::int64_t zero = shown_.zero_ns();
  const auto least = static_cast<std::int64_t>(std::ceil(axis.ns_per_pixel() * min_tick_pixels));
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(least, 1));
  for (std::int64_t tick = (axis.range.start_ns - zero + step - 1) / step * step;
       zero + tick < axis.range.end_ns; tick += step) {
    const int x = static_cast<int>(axis.x(zero + tick));
    painter.drawLine(x, axis_height - 5, x, axis_height - 1);
    const QString words = tick_text(tick, step);
    // Half a number is a wrong one.
    if (x + 3 + painter.fontMetrics().horizontalAdvance(words) <= viewport()->width())
      painter.drawText(QRect(x + 3, 0, min_tick_pixels, axis_height - 2), Qt::AlignLeft | Qt::AlignVCenter,
                       words);
  }
}

void TimelineView::paint_slots(QPainter& painter, const TimeAxis& axis) const {
  const std::vector<traces::Request>& requests = state_.recording()->recording().requests;
  const auto least = static_cast<std::int64_t>(std::ceil(axis.ns_per_pixel() * min_tick_pixels));
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(least, 1));
  const auto& all = shown_.places();
  auto slot = std::partition_point(all.begin(), all.end(), [&](const AlignedTimes::Slot& before) {
    return before.on_axis.end_ns <= axis.range.start_ns;
  });
  for (; slot != all.end() && slot->on_axis.start_ns < axis.range.end_ns; ++slot) {
    const double from = axis.x(slot->on_axis.start_ns);
    const double to = std::min<double>(axis.x(slot->on_axis.end_ns), viewport()->width());
    const double left = std::max<double>(from, axis.left);
    if (to - left < min_stretch_pixels) continue;
    const SliceLabel label = request_label(*state_.recording(), requests[slot->request_index]);
    if (from >= axis.left) painter.drawLine(QPointF(from, axis_height - 9), QPointF(from, axis_height - 1));
    const QString words = label_font_.fitting(label, static_cast<int>(to - left) - 6);
    if (words.isEmpty()) continue;
    painter.drawText(QPointF(left + 3, axis_height - 8), words);
    double free = left + 12 + label_font_.width(words);  // for ticks
    // Each request counts from 0.
    const std::int64_t shown_from = std::max<std::int64_t>(axis.range.start_ns - slot->on_axis.start_ns, 0);
    for (std::int64_t tick = std::max(step, (shown_from + step - 1) / step * step);
         tick < slot->on_axis.duration_ns(); tick += step) {
      const double x = axis.x(slot->on_axis.start_ns + tick);
      if (x > to) break;
      painter.drawLine(QPointF(x, axis_height - 5), QPointF(x, axis_height - 1));
      const QString time = tick_text(tick, step);
      if (x + 3 >= free && x + 3 + label_font_.width(time) <= to) {
        painter.drawText(QPointF(x + 3, axis_height - 8), time);
        free = x + 9 + label_font_.width(time);
      }
    }
  }
}

void TimelineView::paint_overlays(QPainter& painter, const TimeAxis& axis) const {
  painter.setClipRect(axis.left, axis_height, axis.width, viewport()->height() - axis_height);
  paint_borders(painter, axis);
  paint_selection(painter, axis);
  paint_cursor(painter, axis);
  paint_selected_slice(painter, axis);
  if (state_.timeline()) paint_launch(painter, axis);
  painter.setClipping(false);
}

void TimelineView::paint_borders(QPainter& painter, const TimeAxis& axis) const {
  std::vector<std::int64_t> starts;
  if (mode() == TimelineMode::aligned)
    for (const AlignedTimes::Slot& slot : shown_.places()) starts.push_back(slot.on_axis.start_ns);
  if (mode() == TimelineMode::run)
    for (const Stretch& stretch : shown_.chosen().stretches()) starts.push_back(stretch.at_ns);
  QColor color = palette().color(QPalette::WindowText);
  color.setAlpha(border_alpha);
  std::vector<int> places;
  auto start = std::lower_bound(starts.begin(), starts.end(), axis.range.start_ns);
  for (double last = -min_stretch_pixels; start != starts.end() && *start < axis.range.end_ns; ++start) {
    const double x = axis.x(*start);
    if (x - last < min_stretch_pixels) continue;
    last = x;
    places.push_back(static_cast<int>(std::floor(x)));
  }
  const int bottom = std::max(axis_height + 1, std::min(axis_height + rows_.height(), viewport()->height()));
  for (auto first = places.begin(); first != places.end();) {
    const auto last = std::adjacent_find(
        first, places.end(), [](int place, int next) { return next - place > max_joined_pixels; });
    const auto behind = last == places.end() ? last : std::next(last);
    paint_lines(painter, {first, behind}, axis_height, bottom, color);
    first = behind;
  }
}

void TimelineView::paint_time(QPainter& painter, const TimeAxis& axis, TimeRange time, const QColor& fill,
                              const QColor& line) const {
  const TimeRange shown = shown_.chosen().on_axis(time);
  if (shown.duration_ns() == 0 && time.duration_ns() > 0) return;
  const double from = axis.x(shown.start_ns);
  const double to = std::max(axis.x(shown.end_ns), from + 1);
  if (to <= axis.left || from >= axis.left + axis.width) return;
  const auto paint = [&](int top, int bottom) {
    const double left = std::max<double>(from, axis.left);
    painter.fillRect(QRectF(left, top, std::min<double>(to, axis.left + axis.width) - left, bottom - top),
                     fill);
    if (!line.isValid()) return;
    painter.setPen(QPen(line, 1));
    painter.drawLine(QPointF(from, top), QPointF(from, bottom));
    painter.drawLine(QPointF(to, top), QPointF(to, bottom));
  };
  if (mode() != TimelineMode::aligned)
    return paint(axis_height, std::min(viewport()->height(), axis_height + rows_.height()));
  for (const LaneRow& row : rows_.rows())
    if (shows_run(row, state_.run())) paint(top_of(row), top_of(row) + row.height);
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
    const CutTime& cut = shown_.of(row.run_index);
    if (!cut.keeps(time.start_ns)) continue;
    const TimeRange shown = cut.on_axis(time);
    const double from = std::max<double>(axis.x(shown.start_ns), axis.left - 4);
    const double to = std::min<double>(axis.x(shown.end_ns), axis.left + axis.width + 4);
    painter.drawRect(QRectF(from, top_of(row), std::max(to - from, 2.0), row.height - 3));
  }
}

void TimelineView::paint_launch(QPainter& painter, const TimeAxis& axis) const {
  if (!selected_ || !launch_) return;
  const Timeline& timeline = *state_.timeline();
  const auto place_of = [&](const SlicePlace& place) -> std::optional<QPointF> {
    const std::int64_t start_ns = time_of(timeline, place).start_ns;
    for (const LaneRow& row : rows_.rows())
      if (row.kind == LaneRow::RowKind::lane && row.index == place.lane &&
          shown_.of(row.run_index).keeps(start_ns)) {
        const int half = row.height / 2;  // a whole pixel
        const double x = axis.x(shown_.of(row.run_index).on_axis({start_ns, start_ns + 1}).start_ns);
        return QPointF(x, top_of(row) + half);
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
