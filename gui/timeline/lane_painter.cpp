// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_painter.h"

#include <QStaticText>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "views/theme.h"

namespace draftscope::gui {

namespace {

constexpr double narrowest_slice = 3.0;
constexpr int narrowest_label = 28;
constexpr int fade_alpha = 70;

QColor slice_color(const Lane& lane, const LaneSlice& slice, const LaneLook& look) {
  QColor color = lane.kind == LaneKind::requests ? phase_color(traces::Phase::prefill, look.dark)
                                                 : phase_color(slice.phase, look.dark);
  // Deeper spans are lighter, so that nesting shows.
  if (lane.kind == LaneKind::track && lane.depth > 0)
    color = look.dark ? color.darker(100 + 14 * std::min(lane.depth, 5))
                      : color.lighter(100 + 12 * std::min(lane.depth, 5));
  const bool other_round =
      look.round_index != no_index && slice.round_index != no_index && slice.round_index != look.round_index;
  const bool no_match = look.matches != nullptr && (lane.slices.size() == 0 || !(*look.matches)[slice.name]);
  if (other_round || no_match) color.setAlpha(fade_alpha);
  return color;
}

void paint_label(QPainter& painter, const QRect& box, const std::string& text, const QColor& back,
                 bool dark) {
  const QString label =
      painter.fontMetrics().elidedText(QString::fromStdString(text), Qt::ElideRight, box.width() - 6);
  // What is faded is nearly the background.
  painter.setPen(back.alpha() < 255 ? (dark ? Qt::white : Qt::black) : ink_on(back));
  painter.drawText(box.adjusted(3, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft, label);
}

/// Adjacent columns of one look become one rectangle.
class ColumnRun {
 public:
  ColumnRun(QPainter& painter, const QRect& area) : painter_(painter), area_(area) {}
  ~ColumnRun() { flush(); }
  ColumnRun(const ColumnRun&) = delete;
  ColumnRun& operator=(const ColumnRun&) = delete;

  void add(int pixel, int height, const QColor& color) {
    if (pixel != end_ || height != height_ || color != color_) {
      flush();
      start_ = pixel;
      height_ = height;
      color_ = color;
    }
    end_ = pixel + 1;
  }
  void flush() {
    if (end_ > start_)
      painter_.fillRect(start_, area_.bottom() + 1 - height_, end_ - start_, height_, color_);
    start_ = end_ = std::numeric_limits<int>::min();
  }

 private:
  QPainter& painter_;
  QRect area_;
  int start_ = std::numeric_limits<int>::min();
  int end_ = std::numeric_limits<int>::min();
  int height_ = 0;
  QColor color_;
};

/// Paints the lane as an overview tells it.
void paint_columns(QPainter& painter, const Lane& lane, const TimeAxis& axis, const QRect& area,
                   const LaneLook& look) {
  ColumnRun columns(painter, area);
  for (int pixel = axis.left; pixel < axis.left + axis.width; ++pixel) {
    const TimeRange time{axis.ns(pixel), std::max(axis.ns(pixel + 1), axis.ns(pixel) + 1)};
    const BusyColumns::ByPhase busy = lane.columns.summarise(time);
    const auto most = std::max_element(busy.begin(), busy.end());
    if (*most <= 0.0) continue;
    const double share =
        std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(time.duration_ns());
    const int height = std::clamp(static_cast<int>(std::lround(share * area.height())), 2, area.height());
    columns.add(pixel, height,
                slice_color(lane, {.phase = static_cast<traces::Phase>(most - busy.begin())}, look));
  }
}

}  // namespace

void paint_lane(QPainter& painter, const Timeline& timeline, const Lane& lane, const TimeAxis& axis,
                const QRect& area, const LaneLook& look) {
  if (!lane.columns.empty()) return paint_columns(painter, lane, axis, area, look);
  const LaneSlices& slices = lane.slices;
  const int right = axis.left + axis.width;
  ColumnRun columns(painter, area);
  for (int pixel = axis.left; pixel < right;) {
    const std::int64_t start_ns = axis.ns(pixel);
    const std::int64_t end_ns = std::max(axis.ns(pixel + 1), start_ns + 1);
    const std::size_t index = slices.first_ending_after(start_ns);
    if (index == slices.size() || slices.start_ns(index) >= axis.range.end_ns) break;
    const double x0 = axis.x(slices.start_ns(index));
    const double x1 = axis.x(slices.end_ns(index));
    if (x1 - x0 >= narrowest_slice) {
      columns.flush();
      const int from = std::max(axis.left, static_cast<int>(std::floor(x0)));
      const int to = std::min(right, std::max(from + 1, static_cast<int>(std::floor(x1))));
      const LaneSlice slice = slices[index];
      const QColor color = slice_color(lane, slice, look);
      const QRect box(from, area.top(), to - from, area.height());
      painter.fillRect(box.adjusted(0, 0, box.width() > 4 ? -1 : 0, 0), color);
      if (box.width() >= narrowest_label)
        paint_label(painter, box, timeline.names[slice.name], color, look.dark);
      pixel = std::max(pixel + 1, to);
    } else if (slices.start_ns(index) >= end_ns) {
      pixel = std::max(pixel + 1, static_cast<int>(std::floor(x0)));
    } else {
      const BusySummary busy = lane.pyramid.summarise(slices, {start_ns, end_ns});
      const double share = static_cast<double>(busy.busy_ns()) / static_cast<double>(end_ns - start_ns);
      LaneSlice look_alike = slices[busy.slices > 0 ? busy.longest : index];
      look_alike.phase = busy.dominant();
      const int height = std::clamp(static_cast<int>(std::lround(share * area.height())), 2, area.height());
      columns.add(pixel, height, slice_color(lane, look_alike, look));
      ++pixel;
    }
  }
}

std::pair<double, double> counter_range(const CounterLane& counter) {
  double low = 0.0;
  double high = 0.0;
  for (const double value : counter.value) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high > low ? high : low + 1.0};
}

void paint_counter(QPainter& painter, const CounterLane& counter, const TimeAxis& axis, const QRect& area,
                   const QColor& color) {
  if (counter.value.empty()) return;
  const auto [low, high] = counter_range(counter);
  const auto y = [&, low = low, high = high](double value) {
    const double share = std::isfinite(value) ? (value - low) / (high - low) : 0.0;
    return area.bottom() - static_cast<int>(std::lround(share * (area.height() - 1)));
  };
  painter.setPen(color);
  auto at = std::lower_bound(counter.timestamp_ns.begin(), counter.timestamp_ns.end(), axis.range.start_ns) -
            counter.timestamp_ns.begin();
  int last_pixel = std::numeric_limits<int>::min();
  int last_y = 0;
  const auto count = static_cast<std::ptrdiff_t>(counter.timestamp_ns.size());
  while (at < count && counter.timestamp_ns[static_cast<std::size_t>(at)] < axis.range.end_ns) {
    const int pixel =
        static_cast<int>(std::floor(axis.x(counter.timestamp_ns[static_cast<std::size_t>(at)])));
    int top = y(counter.value[static_cast<std::size_t>(at)]);
    int bottom = top;
    int end_y = top;
    for (; at < count &&
           static_cast<int>(std::floor(axis.x(counter.timestamp_ns[static_cast<std::size_t>(at)]))) == pixel;
         ++at) {
      end_y = y(counter.value[static_cast<std::size_t>(at)]);
      top = std::min(top, end_y);
      bottom = std::max(bottom, end_y);
    }
    if (last_pixel != std::numeric_limits<int>::min()) painter.drawLine(last_pixel, last_y, pixel, last_y);
    painter.drawLine(pixel, top, pixel, bottom);
    last_pixel = pixel;
    last_y = end_y;
  }
}

std::optional<std::size_t> slice_at(const Lane& lane, const TimeAxis& axis, double pixel) {
  const TimeRange around{axis.ns(std::floor(pixel)),
                         std::max(axis.ns(std::floor(pixel) + 1), axis.ns(std::floor(pixel)) + 1)};
  const BusySummary busy = lane.pyramid.summarise(lane.slices, around);
  if (busy.slices > 0) return busy.longest;
  return std::nullopt;
}

}  // namespace draftscope::gui
