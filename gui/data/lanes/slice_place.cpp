// SPDX-License-Identifier: GPL-3.0-or-later
#include "slice_place.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

bool is_on_host(const Lane& lane) {
  return lane.track_kind == "host";
}

std::optional<SlicePlace> span_of_id(const Timeline& timeline, traces::SpanId span_id) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const Lane& candidate = timeline.lanes[lane];
    if (candidate.kind != LaneKind::track || !is_on_host(candidate)) continue;
    for (std::size_t slice = 0; slice < candidate.slices.size(); ++slice)
      if (candidate.slices[slice].row_id == span_id.value()) return SlicePlace{lane, slice};
  }
  return std::nullopt;
}

/// Tracks the match nearest to a place, and the first match of all, to wrap around to.
class NearestMatch {
 public:
  NearestMatch(const Timeline& timeline, const std::optional<SlicePlace>& from, bool forward)
      : timeline_(timeline), from_(from), forward_(forward) {}

  void add(const SlicePlace& place) {
    if ((!from_ || is_ahead(*from_, place)) && is_nearer(place, ahead_)) ahead_ = place;
    if (is_nearer(place, first_)) first_ = place;
  }

  [[nodiscard]] std::optional<SlicePlace> found() const { return ahead_ ? ahead_ : first_; }

 private:
  /// Key of the order by time, then by lane.
  [[nodiscard]] std::pair<std::int64_t, std::size_t> key(const SlicePlace& place) const {
    return {timeline_.lanes[place.lane].slices.start_ns(place.slice), place.lane};
  }
  [[nodiscard]] bool is_ahead(const SlicePlace& from, const SlicePlace& place) const {
    return forward_ ? key(from) < key(place) : key(place) < key(from);
  }
  [[nodiscard]] bool is_nearer(const SlicePlace& place, const std::optional<SlicePlace>& than) const {
    return !than || is_ahead(place, *than);
  }

  const Timeline& timeline_;
  const std::optional<SlicePlace>& from_;
  bool forward_;
  std::optional<SlicePlace> ahead_;
  std::optional<SlicePlace> first_;
};

}  // namespace

TimeRange time_of(const Timeline& timeline, const SlicePlace& place) {
  const LaneSlices& slices = timeline.lanes[place.lane].slices;
  return {slices.start_ns(place.slice), slices.end_ns(place.slice)};
}

std::int64_t shared_until_ns(const Timeline& timeline, const SlicePlace& place) {
  const Lane& lane = timeline.lanes[place.lane];
  const TimeRange time = time_of(timeline, place);
  std::int64_t until_ns = time.start_ns;
  if (!is_side_by_side(lane)) return until_ns;
  const auto is_of_track = [&](std::size_t other) {
    return timeline.lanes[other].kind == lane.kind && timeline.lanes[other].owner == lane.owner;
  };
  std::size_t other = place.lane;
  while (other > 0 && is_of_track(other - 1)) --other;
  for (; other < timeline.lanes.size() && is_of_track(other); ++other) {
    if (other == place.lane) continue;
    const LaneSlices& slices = timeline.lanes[other].slices;
    std::size_t next = slices.first_starting_at(time.start_ns);
    if (next > 0) until_ns = std::max(until_ns, slices.end_ns(next - 1));
    for (; next < slices.size() && slices.start_ns(next) == time.start_ns; ++next)
      if (std::tuple(slices.end_ns(next), other) < std::tuple(time.end_ns, place.lane))
        until_ns = std::max(until_ns, slices.end_ns(next));
  }
  return std::min(until_ns, time.end_ns);
}

std::optional<SlicePlace> next_match(const Timeline& timeline, const std::vector<bool>& matches,
                                     const std::optional<SlicePlace>& from, bool forward) {
  NearestMatch nearest(timeline, from, forward);
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const LaneSlices& slices = timeline.lanes[lane].slices;
    for (std::size_t slice = 0; slice < slices.size(); ++slice)
      if (matches[slices.name(slice)]) nearest.add({lane, slice});
  }
  return nearest.found();
}

MatchRank rank_of_match(const Timeline& timeline, const std::vector<bool>& matches, const SlicePlace& place) {
  const auto key = [&](const SlicePlace& of) {
    return std::pair(timeline.lanes[of.lane].slices.start_ns(of.slice), of.lane);
  };
  const auto found = key(place);
  MatchRank rank;
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const LaneSlices& slices = timeline.lanes[lane].slices;
    for (std::size_t slice = 0; slice < slices.size(); ++slice) {
      if (!matches[slices.name(slice)]) continue;
      ++rank.all;
      if (key({lane, slice}) <= found) ++rank.number;
    }
  }
  return rank;
}

std::optional<SlicePlace> launch_of(const Timeline& timeline, const SlicePlace& place) {
  const Lane& lane = timeline.lanes[place.lane];
  if (lane.kind != LaneKind::track || is_on_host(lane)) return std::nullopt;
  const std::int64_t kernel = lane.slices[place.slice].row_id;
  const auto launch = std::lower_bound(
      timeline.launches.begin(), timeline.launches.end(), kernel,
      [](const std::pair<std::uint32_t, std::uint32_t>& pair, std::int64_t id) { return pair.first < id; });
  if (launch == timeline.launches.end() || launch->first != kernel) return std::nullopt;
  return span_of_id(timeline, traces::SpanId::from(launch->second));
}

}  // namespace draftscope::gui
