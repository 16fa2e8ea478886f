// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_painter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/rounds/round_times.h"
#include "views/theme.h"

namespace draftscope::gui {

namespace {

constexpr double narrowest_slice = 3.0;
/// Narrowest round that is drawn as its phases.
constexpr double narrowest_round = 6.0;
constexpr int narrowest_label = 28;
constexpr int fade_alpha = 70;

bool is_faded(const Lane& lane, const LaneSlice& slice, const LaneLook& look) {
  const bool is_other_round =
      look.round_index != no_index && slice.round_index != no_index && slice.round_index != look.round_index;
  const bool is_no_match =
      look.matches != nullptr && (lane.slices.size() == 0 || !(*look.matches)[slice.name]);
  return is_other_round || is_no_match;
}

QColor slice_color(const Lane& lane, const LaneSlice& slice, const LaneLook& look) {
  QColor color = lane.kind == LaneKind::requests ? phase_color(traces::Phase::prefill, look.dark)
                                                 : phase_color(slice.phase, look.dark);
  // Deeper spans are lighter, so that nesting shows.
  if (lane.kind == LaneKind::track && lane.depth > 0)
    color = look.dark ? color.darker(100 + 14 * std::min(lane.depth, 5))
                      : color.lighter(100 + 12 * std::min(lane.depth, 5));
  if (is_faded(lane, slice, look)) color.setAlpha(fade_alpha);
  return color;
}

QColor ink_for(const QColor& back, bool dark) {
  // What is faded is nearly the background.
  if (back.alpha() < 255) return dark ? Qt::white : Qt::black;
  return ink_on(back);
}

/// A piece of a slice in one colour, between two pixels.
struct Piece {
  int left = 0;
  int right = 0;
  QColor color;
};

/// Writes across the pieces, in the ink that each asks for.
void paint_label(QPainter& painter, const QRect& box, const QString& text, const std::vector<Piece>& pieces,
                 bool dark) {
  const QFontMetrics metrics = painter.fontMetrics();
  const QPoint at(box.left() + 3, box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2);
  const QColor first = ink_for(pieces.front().color, dark);
  const bool is_one_ink = std::all_of(
      pieces.begin(), pieces.end(), [&](const Piece& piece) { return ink_for(piece.color, dark) == first; });
  if (is_one_ink) {
    painter.setPen(first);
    painter.drawText(at, text);
    return;
  }
  for (const Piece& piece : pieces) {
    painter.save();
    painter.setClipRect(QRect(piece.left, box.top(), piece.right - piece.left, box.height()),
                        Qt::IntersectClip);
    painter.setPen(ink_for(piece.color, dark));
    painter.drawText(at, text);
    painter.restore();
  }
}

/// Adjacent columns of one look become one rectangle.
class ColumnRun {
 public:
  ColumnRun(QPainter& painter, const QRect& area) : painter_(painter), area_(area) {}
  ~ColumnRun() { flush(); }
  ColumnRun(const ColumnRun&) = delete;
  ColumnRun& operator=(const ColumnRun&) = delete;

  void add(int pixel, double share, const QColor& color) {
    const int height = std::clamp(static_cast<int>(std::lround(share * area_.height())), 2, area_.height());
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

/// Paints pixels of a lane that lie within one stretch of the axis.
class StretchPainter {
 public:
  StretchPainter(QPainter& painter, const Timeline& timeline, const Lane& lane, const QRect& area,
                 const LaneLook& look, ColumnRun& columns)
      : painter_(painter), timeline_(timeline), lane_(lane), area_(area), look_(look), columns_(columns) {}

  /// `axis` has the recording's time.
  void paint(const TimeAxis& axis, int from, int to) {
    if (!lane_.columns.empty())
      for (int pixel = from; pixel < to; ++pixel)
        paint_busy(pixel, axis, busy_time(lane_, time_of(axis, pixel)));
    else
      paint_slices(axis, from, to);
  }

  /// A pixel by how busy its time was.
  void paint_busy(int pixel, const TimeAxis& axis, const BusyColumns::ByPhase& busy) {
    const auto most = std::max_element(busy.begin(), busy.end());
    if (*most <= 0.0) return;
    const double share = std::accumulate(busy.begin(), busy.end(), 0.0) /
                         static_cast<double>(time_of(axis, pixel).duration_ns());
    columns_.add(pixel, share,
                 slice_color(lane_, {.phase = static_cast<traces::Phase>(most - busy.begin())}, look_));
  }

  [[nodiscard]] static TimeRange time_of(const TimeAxis& axis, int pixel) {
    const std::int64_t start_ns = axis.ns(pixel);
    return {start_ns, std::max(axis.ns(pixel + 1), start_ns + 1)};
  }

 private:
  void paint_slices(const TimeAxis& axis, int from, int to) {
    const LaneSlices& slices = lane_.slices;
    for (int pixel = from; pixel < to;) {
      const TimeRange time = time_of(axis, pixel);
      const std::size_t index = slices.first_ending_after(time.start_ns);
      if (index == slices.size()) return;
      const double x0 = axis.x(slices.start_ns(index));
      const double x1 = axis.x(slices.end_ns(index));
      if (x0 >= to) return;
      if (x1 - x0 >= narrowest_slice) {
        columns_.flush();
        const int left = std::max(from, static_cast<int>(std::floor(x0)));
        const int right = std::min(to, std::max(left + 1, static_cast<int>(std::floor(x1))));
        paint_slice(index, x0, x1, QRect(left, area_.top(), right - left, area_.height()));
        pixel = std::max(pixel + 1, right);
      } else if (slices.start_ns(index) >= time.end_ns) {
        pixel = std::max(pixel + 1, static_cast<int>(std::floor(x0)));
      } else {
        const BusySummary busy = lane_.pyramid.summarise(slices, time);
        LaneSlice look_alike = slices[busy.slices > 0 ? busy.longest : index];
        look_alike.phase = busy.dominant();
        columns_.add(pixel, static_cast<double>(busy.busy_ns()) / static_cast<double>(time.duration_ns()),
                     slice_color(lane_, look_alike, look_));
        ++pixel;
      }
    }
  }

  void paint_slice(std::size_t index, double x0, double x1, const QRect& box) {
    const LaneSlice slice = lane_.slices[index];
    const QRect filled = box.adjusted(0, 0, box.width() > 4 ? -1 : 0, 0);
    pieces_.clear();
    if (lane_.kind == LaneKind::rounds && look_.opened != nullptr && slice.round_index != no_index &&
        x1 - x0 >= narrowest_round)
      add_phases(slice, x0, x1, filled);
    if (pieces_.empty())
      pieces_.push_back({filled.left(), filled.right() + 1, slice_color(lane_, slice, look_)});
    for (const Piece& piece : pieces_)
      painter_.fillRect(piece.left, filled.top(), piece.right - piece.left, filled.height(), piece.color);
    if (box.width() < narrowest_label || look_.opened == nullptr || look_.widths == nullptr) return;
    const QString text =
        look_.widths->fitting(slice_labels(*look_.opened, timeline_, lane_, index), box.width() - 6);
    if (!text.isEmpty()) paint_label(painter_, box, text, pieces_, look_.dark);
  }

  /// The round's phases, side by side in their order.
  void add_phases(const LaneSlice& slice, double x0, double x1, const QRect& filled) {
    const PartTimes parts = part_times(look_.opened->round(slice.round_index));
    const bool faded = is_faded(lane_, slice, look_);
    const double per_ns =
        (x1 - x0) / static_cast<double>(std::max<std::int64_t>(slice.time.duration_ns(), 1));
    double at = x0;
    int left = filled.left();
    for (std::size_t part = 0; part < round_parts; ++part) {
      at += per_ns * static_cast<double>(parts[part]);
      const bool is_last = part + 1 == round_parts;
      const int right = is_last ? filled.right() + 1
                                : std::clamp(static_cast<int>(std::lround(at)), left, filled.right() + 1);
      if (right <= left) continue;
      QColor color = phase_color(phase_of(static_cast<RoundPart>(part)), look_.dark);
      // The last pixel of a round without idle time is its last phase's.
      if (is_last && parts[part] <= 0 && !pieces_.empty()) {
        pieces_.back().right = right;
        continue;
      }
      if (faded) color.setAlpha(fade_alpha);
      pieces_.push_back({left, right, color});
      left = right;
    }
  }

  QPainter& painter_;
  const Timeline& timeline_;
  const Lane& lane_;
  QRect area_;
  const LaneLook& look_;
  ColumnRun& columns_;
  std::vector<Piece> pieces_;
};

/// The axis with a stretch's times in place of its own.
TimeAxis recorded_axis(const TimeAxis& axis, const Stretch& stretch) {
  const std::int64_t shift = stretch.time.start_ns - stretch.at_ns;
  return {{axis.range.start_ns + shift, axis.range.end_ns + shift}, axis.left, axis.width};
}

int whole_pixels(double x, const TimeAxis& axis) {
  return static_cast<int>(std::clamp<double>(std::floor(x), axis.left, axis.left + axis.width));
}

}  // namespace

void paint_lane(QPainter& painter, const Timeline& timeline, const Lane& lane, const LaneTime& time,
                const TimeAxis& axis, const QRect& area, const LaneLook& look) {
  ColumnRun columns(painter, area);
  StretchPainter stretch_painter(painter, timeline, lane, area, look, columns);
  const std::vector<Stretch>& stretches = time.cut.stretches();
  const int right = axis.left + axis.width;
  for (int pixel = axis.left; pixel < right;) {
    const TimeRange at = StretchPainter::time_of(axis, pixel);
    const std::size_t index = time.cut.first_ending_after(at.start_ns);
    if (index == stretches.size()) break;
    const TimeRange shown = stretches[index].on_axis();
    if (shown.start_ns >= at.end_ns) {
      pixel = std::max(pixel + 1, whole_pixels(axis.x(shown.start_ns), axis));
    } else if (shown.start_ns <= at.start_ns && shown.end_ns >= at.end_ns) {
      const int to = std::max(pixel + 1, whole_pixels(axis.x(shown.end_ns), axis));
      stretch_painter.paint(recorded_axis(axis, stretches[index]), pixel, to);
      pixel = to;
    } else {
      // Stretches meet within the pixel.
      stretch_painter.paint_busy(pixel, axis, time.sums().summarise(lane, time.cut, at));
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

void paint_counter(QPainter& painter, const CounterLane& counter, const CutTime& time, const TimeAxis& axis,
                   const QRect& area, const QColor& color) {
  if (counter.value.empty()) return;
  const auto [low, high] = counter_range(counter);
  const auto y = [&, low = low, high = high](double value) {
    const double share = std::isfinite(value) ? (value - low) / (high - low) : 0.0;
    return area.bottom() - static_cast<int>(std::lround(share * (area.height() - 1)));
  };
  painter.setPen(color);
  int last_pixel = std::numeric_limits<int>::min();
  int last_y = 0;
  const auto count = static_cast<std::ptrdiff_t>(counter.timestamp_ns.size());
  const std::vector<Stretch>& stretches = time.stretches();
  for (std::size_t i = time.first_ending_after(axis.range.start_ns);
       i < stretches.size() && stretches[i].at_ns < axis.range.end_ns; ++i) {
    const TimeAxis recorded = recorded_axis(axis, stretches[i]);
    const std::int64_t start_ns = std::max(recorded.range.start_ns, stretches[i].time.start_ns);
    const std::int64_t end_ns = std::min(recorded.range.end_ns, stretches[i].time.end_ns);
    const auto time_at = [&](std::ptrdiff_t at) {
      return counter.timestamp_ns[static_cast<std::size_t>(at)];
    };
    const auto pixel_at = [&](std::ptrdiff_t at) {
      return static_cast<int>(std::floor(recorded.x(time_at(at))));
    };
    auto at = std::lower_bound(counter.timestamp_ns.begin(), counter.timestamp_ns.end(), start_ns) -
              counter.timestamp_ns.begin();
    while (at < count && time_at(at) < end_ns) {
      const int pixel = pixel_at(at);
      int top = y(counter.value[static_cast<std::size_t>(at)]);
      int bottom = top;
      int end_y = top;
      for (; at < count && time_at(at) < end_ns && pixel_at(at) == pixel; ++at) {
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
}

std::optional<std::size_t> slice_at(const Lane& lane, const CutTime& time, const TimeAxis& axis,
                                    double pixel) {
  const TimeRange around = StretchPainter::time_of(axis, static_cast<int>(std::floor(pixel)));
  std::optional<std::size_t> longest;
  std::int64_t longest_ns = -1;
  const std::vector<Stretch>& stretches = time.stretches();
  for (std::size_t i = time.first_ending_after(around.start_ns);
       i < stretches.size() && stretches[i].at_ns < around.end_ns; ++i) {
    const TimeRange shown = stretches[i].on_axis();
    const std::int64_t shift = stretches[i].time.start_ns - stretches[i].at_ns;
    const BusySummary busy = lane.pyramid.summarise(
        lane.slices,
        {std::max(around.start_ns, shown.start_ns) + shift, std::min(around.end_ns, shown.end_ns) + shift});
    if (busy.slices == 0 || busy.longest_ns <= longest_ns) continue;
    longest = busy.longest;
    longest_ns = busy.longest_ns;
  }
  return longest;
}

}  // namespace draftscope::gui
