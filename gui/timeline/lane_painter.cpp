// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/lanes/slice_place.h"
#include "data/rounds/round_times.h"
#include "timeline/lane_canvas.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr double narrowest_slice = 3.0;
/// Narrowest slice of which the part that it shared is hatched, and distance of the lines.
constexpr double narrowest_shared = 8.0;
constexpr int hatch_step = 4;
/// Narrowest round that is drawn as its phases.
constexpr double narrowest_round = 6.0;
constexpr int narrowest_label = 28;
constexpr int fade_alpha = 70;

/// Colours of a lane's slices by phase, and legible ink on them.
class LaneColors {
 public:
  LaneColors(const Lane& lane, bool dark) {
    for (std::size_t phase = 0; phase < solid_.size(); ++phase) {
      // Waits and the cost of measuring are no work of the phase in which they happen.
      const bool is_wait = lane.track_kind == "sync" || lane.track_kind == "overhead";
      QColor color = phase_color(lane.kind == LaneKind::requests ? traces::Phase::prefill
                                 : is_wait                       ? traces::Phase::sync
                                                                 : static_cast<traces::Phase>(phase),
                                 dark);
      // Deeper spans are lighter, so that nesting shows.
      if (lane.kind == LaneKind::track && lane.depth > 0 && !is_side_by_side(lane))
        color = dark ? color.darker(100 + 14 * std::min(lane.depth, 5))
                     : color.lighter(100 + 12 * std::min(lane.depth, 5));
      solid_[phase].back = faded_[phase].back = color;
      solid_[phase].ink = ink_on(color);
      faded_[phase].back.setAlpha(fade_alpha);
      // A faded box is nearly the background's colour.
      faded_[phase].ink = dark ? Qt::white : Qt::black;
    }
  }

  struct SliceColors {
    QColor back;
    QColor ink;
  };
  [[nodiscard]] const SliceColors& of(traces::Phase phase, bool is_faded) const {
    return (is_faded ? faded_ : solid_)[std::min(static_cast<std::size_t>(phase), solid_.size() - 1)];
  }

 private:
  std::array<SliceColors, traces::phase_count> solid_;
  std::array<SliceColors, traces::phase_count> faded_;
};

/// Merges adjacent columns of one look into one rectangle.
class ColumnRun {
 public:
  explicit ColumnRun(LaneCanvas& canvas) : canvas_(canvas), area_(canvas.area()) {}
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
    if (end_ > start_) canvas_.fill({start_, area_.bottom() + 1 - height_, end_ - start_, height_}, color_);
    start_ = end_ = std::numeric_limits<int>::min();
  }

 private:
  LaneCanvas& canvas_;
  QRect area_;
  int start_ = std::numeric_limits<int>::min();
  int end_ = std::numeric_limits<int>::min();
  int height_ = 0;
  QColor color_;
};

/// Paints pixels of a lane.
class PixelPainter {
 public:
  PixelPainter(const QFontMetrics& metrics, const Timeline& timeline, const Lane& lane, const LaneLook& look,
               LaneCanvas& canvas, ColumnRun& columns)
      : metrics_(metrics),
        timeline_(timeline),
        lane_(lane),
        area_(canvas.area()),
        look_(look),
        colors_(lane, look.dark),
        canvas_(canvas),
        columns_(columns) {
    if (!is_side_by_side(lane)) return;
    for (std::size_t i = 0; i < timeline.lanes.size(); ++i)
      if (&timeline.lanes[i] == &lane) place_in_timeline_ = i;
  }

  void paint(const TimeAxis& axis, int from, int to) {
    if (!lane_.columns.empty())
      for (int pixel = from; pixel < to; ++pixel)
        paint_busy(pixel, axis, busy_time(lane_, time_of(axis, pixel)));
    else
      paint_slices(axis, from, to);
  }

  [[nodiscard]] static TimeRange time_of(const TimeAxis& axis, int pixel) {
    const std::int64_t start_ns = axis.ns(pixel);
    return {start_ns, std::max(axis.ns(pixel + 1), start_ns + 1)};
  }

 private:
  /// Paints a pixel by how busy its time was.
  void paint_busy(int pixel, const TimeAxis& axis, const BusyColumns::ByPhase& busy) {
    const auto most = std::max_element(busy.begin(), busy.end());
    if (*most <= 0.0) return;
    const double share = std::accumulate(busy.begin(), busy.end(), 0.0) /
                         static_cast<double>(time_of(axis, pixel).duration_ns());
    const bool is_faded = look_.matches != nullptr && lane_.slices.size() == 0;
    columns_.add(pixel, share, colors_.of(static_cast<traces::Phase>(most - busy.begin()), is_faded).back);
  }

  /// Whether the filter leaves no round in a time.
  [[nodiscard]] bool is_left_out(TimeRange time) const {
    return look_.left != nullptr && !look_.left->any_in(look_.run_index, time);
  }

  void paint_slices(const TimeAxis& axis, int from, int to) {
    const LaneSlices& slices = lane_.slices;
    // Pixels, slices and blocks of slices are all visited from left to right.
    std::size_t block = 0;
    std::size_t index = 0;
    bool is_near = false;
    for (int pixel = from; pixel < to;) {
      const TimeRange time = time_of(axis, pixel);
      if (const auto busy = lane_.pyramid.from_afar(time, block)) {
        paint_column(pixel++, *busy, time);
        continue;
      }
      index = is_near ? slices.first_ending_after(time.start_ns, index)
                      : slices.first_ending_after(time.start_ns);
      is_near = true;
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
        BusySummary busy = lane_.pyramid.summarise(slices, time, index);
        if (busy.slices == 0) busy.longest = index;
        paint_column(pixel++, busy, time);
        // The next pixel begins in the last of these slices, or after it.
        index += std::max<std::size_t>(busy.slices, 1) - 1;
      }
    }
  }

  /// Paints a pixel in the phase that most of its time went to. The longest slice decides whether it is
  /// faded.
  void paint_column(int pixel, const BusySummary& busy, TimeRange time) {
    columns_.add(pixel, static_cast<double>(busy.busy_ns()) / static_cast<double>(time.duration_ns()),
                 colors_
                     .of(busy.dominant(),
                         is_no_match(busy.longest) || (is_filtered(busy.longest) && is_left_out(time)))
                     .back);
  }

  [[nodiscard]] bool is_no_match(std::size_t index) const {
    return look_.matches != nullptr && !(*look_.matches)[lane_.slices.name(index)];
  }
  /// Whether the filter applies: the slice belongs to a round or has rounds.
  [[nodiscard]] bool is_filtered(std::size_t index) const {
    return look_.left != nullptr &&
           (lane_.kind == LaneKind::requests || lane_.slices.round_index(index) != no_index);
  }
  [[nodiscard]] bool is_faded(std::size_t index) const {
    if (is_no_match(index)) return true;
    if (!is_filtered(index)) return false;
    const std::uint32_t round_index = lane_.slices.round_index(index);
    return round_index == no_index ? is_left_out({lane_.slices.start_ns(index), lane_.slices.end_ns(index)})
                                   : !look_.left->has(round_index);
  }

  void paint_slice(std::size_t index, double x0, double x1, const QRect& box) {
    const QRect filled = box.adjusted(0, 0, box.width() > 4 ? -1 : 0, 0);
    inks_.clear();
    left_ = filled.left();
    const bool faded = is_faded(index);
    const std::uint32_t round_index = lane_.slices.round_index(index);
    if (lane_.kind == LaneKind::rounds && look_.opened != nullptr && round_index != no_index &&
        x1 - x0 >= narrowest_round)
      paint_phases(round_index, index, x0, x1, filled, faded);
    else
      paint_shared(index, x0, x1, filled, faded);
    if (left_ <= filled.right()) paint_piece(filled, filled.right() + 1, lane_.slices.phase(index), faded);
    if (box.width() < narrowest_label || look_.opened == nullptr || look_.labels == nullptr) return;
    const QString text =
        look_.labels->font().fitting(slice_label(*look_.opened, timeline_, lane_, index), box.width() - 6);
    if (text.isEmpty()) return;
    look_.labels->add(
        {box.left() + 3, box.top() + (box.height() + metrics_.ascent() - metrics_.descent()) / 2}, text,
        inks_);
  }

  /// Paints from the right end of the last piece.
  void paint_piece(const QRect& filled, int right, traces::Phase phase, bool faded) {
    const LaneColors::SliceColors& look = colors_.of(phase, faded);
    canvas_.fill({left_, filled.top(), right - left_, filled.height()}, look.back);
    inks_.push_back({right, look.ink});
    left_ = right;
  }

  /// Hatches the part of a device's slice in which slices that began earlier ran.
  void paint_shared(std::size_t index, double x0, double x1, const QRect& filled, bool faded) {
    if (x1 - x0 < narrowest_shared || !place_in_timeline_) return;
    const std::int64_t start_ns = lane_.slices.start_ns(index);
    const std::int64_t shared_ns = shared_until_ns(timeline_, {*place_in_timeline_, index}) - start_ns;
    const auto length_ns = static_cast<double>(lane_.slices.end_ns(index) - start_ns);
    const double share = length_ns > 0.0 ? static_cast<double>(shared_ns) / length_ns : 0.0;
    const int right = std::min(static_cast<int>(std::lround(x0 + share * (x1 - x0))), filled.right() + 1);
    if (right <= left_) return;
    const int left = left_;
    const traces::Phase phase = lane_.slices.phase(index);
    paint_piece(filled, right, phase, true);
    // The lines stand still while the slice moves under the window.
    for (int x = left + (hatch_step - left % hatch_step) % hatch_step; x < right; x += hatch_step)
      canvas_.fill({x, filled.top(), 1, filled.height()}, colors_.of(phase, faded).back);
  }

  /// Paints the round's phases, side by side in their order.
  void paint_phases(std::uint32_t round_index, std::size_t index, double x0, double x1, const QRect& filled,
                    bool faded) {
    const PartTimes parts = part_times(look_.opened->round(round_index));
    const std::int64_t duration = lane_.slices.end_ns(index) - lane_.slices.start_ns(index);
    const double per_ns = (x1 - x0) / static_cast<double>(std::max<std::int64_t>(duration, 1));
    // The last pixel of a round without idle time belongs to its last phase.
    std::size_t last = round_parts - 1;
    while (last > 0 && parts[last] <= 0) --last;
    if (parts[last] <= 0) last = round_parts - 1;
    double at = x0;
    for (std::size_t part = 0; part <= last; ++part) {
      at += per_ns * static_cast<double>(parts[part]);
      const int right = part == last
                            ? filled.right() + 1
                            : std::clamp(static_cast<int>(std::lround(at)), left_, filled.right() + 1);
      if (right > left_) paint_piece(filled, right, phase_of(static_cast<RoundPart>(part)), faded);
    }
  }

  QFontMetrics metrics_;
  const Timeline& timeline_;
  const Lane& lane_;
  QRect area_;
  const LaneLook& look_;
  LaneColors colors_;
  LaneCanvas& canvas_;
  ColumnRun& columns_;
  std::optional<std::size_t> place_in_timeline_;  ///< Place of a lane whose slices run side by side.
  int left_ = 0;                                  ///< Left end of the next piece of a slice.
  std::vector<LabelInk> inks_;
};

}  // namespace

void paint_lane(QPainter& painter, const Timeline& timeline, const Lane& lane, const TimeAxis& axis,
                const QRect& area, const LaneLook& look) {
  LaneCanvas canvas(painter, area, look.back);
  ColumnRun columns(canvas);
  PixelPainter(painter.fontMetrics(), timeline, lane, look, canvas, columns)
      .paint(axis, axis.left, axis.left + axis.width);
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
  // Bytes of copies happen at a time: no level lasts until the next copy.
  const bool is_level = !counter.name.ends_with(", bytes");
  int last_pixel = std::numeric_limits<int>::min();
  int last_y = 0;
  const std::vector<std::int64_t>& times = counter.timestamp_ns;
  const auto pixel_at = [&](std::size_t at) { return static_cast<int>(std::floor(axis.x(times[at]))); };
  auto at = static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), axis.range.start_ns) -
                                     times.begin());
  while (at < times.size() && times[at] < axis.range.end_ns) {
    const int pixel = pixel_at(at);
    int top = y(counter.value[at]);
    int bottom = top;
    int end_y = top;
    for (; at < times.size() && times[at] < axis.range.end_ns && pixel_at(at) == pixel; ++at) {
      end_y = y(counter.value[at]);
      top = std::min(top, end_y);
      bottom = std::max(bottom, end_y);
    }
    if (!is_level) bottom = area.bottom();
    if (is_level && last_pixel != std::numeric_limits<int>::min())
      painter.drawLine(last_pixel, last_y, pixel, last_y);
    painter.drawLine(pixel, top, pixel, bottom);
    last_pixel = pixel;
    last_y = end_y;
  }
}

std::optional<std::size_t> slice_at(const Lane& lane, const TimeAxis& axis, double pixel) {
  const BusySummary busy =
      lane.pyramid.summarise(lane.slices, PixelPainter::time_of(axis, static_cast<int>(std::floor(pixel))));
  return busy.slices == 0 ? std::nullopt : std::optional(busy.longest);
}

}  // namespace draftscope::gui
