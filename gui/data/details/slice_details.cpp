// SPDX-License-Identifier: GPL-3.0-or-later
#include "slice_details.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "data/details/draft_tree.h"
#include "data/id_index.h"

namespace draftscope::gui {

namespace {

/// The slice of a lane that contains a moment.
std::optional<std::size_t> slice_at_time(const LaneSlices& slices, std::int64_t time_ns) {
  const std::size_t index = slices.first_ending_after(time_ns);
  if (index < slices.size() && slices.start_ns(index) <= time_ns) return index;
  return std::nullopt;
}

std::optional<SlicePlace> in_lanes_of(const Timeline& timeline, LaneKind kind, std::int64_t owner,
                                      std::int64_t time_ns) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    if (timeline.lanes[lane].kind == kind && (owner == 0 || timeline.lanes[lane].owner == owner))
      if (const auto slice = slice_at_time(timeline.lanes[lane].slices, time_ns))
        return SlicePlace{lane, *slice};
  return std::nullopt;
}

bool is_of_kind(const Lane& a, const Lane& b) {
  return a.kind == b.kind && a.track_kind == b.track_kind;
}

/// Finds the run of any slice.
class RunFinder {
 public:
  RunFinder(const OpenedRecording& opened, const Timeline& timeline)
      : opened_(opened),
        timeline_(timeline),
        runs_(opened.recording().runs, [](const traces::Run& run) { return run.id; }) {}

  [[nodiscard]] std::uint32_t of(const Lane& lane, std::size_t slice) const {
    if (lane.kind == LaneKind::requests || lane.kind == LaneKind::rounds)
      return runs_[traces::RunId::from(lane.owner)];
    if (const std::uint32_t round = lane.slices.round_index(slice); round != no_index)
      return opened_.run_of(round);
    const auto request = in_lanes_of(timeline_, LaneKind::requests, 0, lane.slices.start_ns(slice));
    return request ? runs_[traces::RunId::from(timeline_.lanes[request->lane].owner)] : no_index;
  }

 private:
  const OpenedRecording& opened_;
  const Timeline& timeline_;
  IdIndex<traces::RunId> runs_;
};

std::optional<std::int32_t> rows_of(const OpenedRecording& opened, const SliceDetails& slice) {
  if (slice.lane_kind == LaneKind::track && slice.phase == traces::Phase::prefill && slice.request_index) {
    const traces::Prompt* prompt = opened.prompt_of(opened.recording().requests[*slice.request_index]);
    if (prompt != nullptr && !prompt->tokens.empty()) return static_cast<std::int32_t>(prompt->tokens.size());
  }
  if (slice.round_index == no_index) return std::nullopt;
  const std::int32_t verified = opened.round(slice.round_index).verify_rows;
  const bool is_verification = slice.lane_kind == LaneKind::rounds || slice.phase == traces::Phase::verify;
  if (is_verification && verified > 0) return verified;
  if (!slice.tokens.empty()) return static_cast<std::int32_t>(slice.tokens.size());
  return std::nullopt;
}

std::optional<std::size_t> request_index_of(const OpenedRecording& opened, const Timeline& timeline,
                                            const SliceDetails& slice) {
  const traces::Recording& rows = opened.recording();
  if (slice.round_index != no_index)
    return static_cast<std::size_t>(&opened.request_of(slice.round_index) - rows.requests.data());
  const auto request = slice.lane_kind == LaneKind::requests
                           ? std::optional(slice.place)
                           : in_lanes_of(timeline, LaneKind::requests, 0, slice.time.start_ns);
  if (!request) return std::nullopt;
  const std::int64_t id = timeline.lanes[request->lane].slices.row_id(request->slice);
  const auto found = std::find_if(rows.requests.begin(), rows.requests.end(),
                                  [&](const traces::Request& row) { return row.id.value() == id; });
  if (found == rows.requests.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows.requests.begin());
}

/// Time of a slice that slices of the next lane below cover. 0 on a device, where slices run side by side.
std::int64_t inside_ns(const Timeline& timeline, const SlicePlace& place, TimeRange time) {
  const Lane& lane = timeline.lanes[place.lane];
  if (place.lane + 1 >= timeline.lanes.size()) return 0;
  const Lane& below = timeline.lanes[place.lane + 1];
  if (below.kind != lane.kind || below.owner != lane.owner || is_side_by_side(lane)) return 0;
  return below.pyramid.summarise(below.slices, time).busy_ns();
}

/// The row of a device's slice, read from the file again; none if it is not there any more.
std::optional<traces::Kernel> kernel_of(const OpenedRecording& opened, const Lane& lane,
                                        const LaneSlice& slice) {
  if (lane.kind != LaneKind::track || lane.track_kind == "host" || slice.row_id <= 0) return std::nullopt;
  auto reader = traces::Reader::open(opened.recording().path);
  std::optional<traces::Kernel> found;
  if (reader)
    (void)reader->kernels({slice.row_id, slice.row_id}, [&](const traces::Kernel& row) {
      if (row.track_id.value() == lane.owner && row.end_ns == slice.time.end_ns) found = row;
      return true;
    });
  return found;
}

/// The slice of a lane of calls that has the correlation id and began in the time; the first of several.
std::optional<std::size_t> call_in(traces::Reader& reader, const LaneSlices& calls, TimeRange time,
                                   std::uint32_t correlation_id) {
  const std::size_t begin = calls.first_starting_at(time.start_ns);
  std::unordered_map<std::int64_t, std::size_t> slices;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (std::size_t slice = begin; slice < calls.size() && calls.start_ns(slice) < time.end_ns; ++slice) {
    const std::int64_t id = calls.row_id(slice);
    slices.emplace(id, slice);
    least = std::min(least, id);
    most = std::max(most, id);
  }
  std::optional<std::size_t> found;
  if (most > 0)
    (void)reader.kernels({least, most}, [&](const traces::Kernel& row) {
      const auto slice = row.correlation_id == correlation_id ? slices.find(row.id.value()) : slices.end();
      if (slice != slices.end()) found = std::min(found.value_or(slice->second), slice->second);
      return true;
    });
  return found;
}

}  // namespace

std::optional<SlicePlace> call_of(const OpenedRecording& opened, const Timeline& timeline,
                                  const SlicePlace& place) {
  const Lane& lane = timeline.lanes[place.lane];
  const auto is_of_calls = [](const Lane& of) { return of.track_kind == "calls"; };
  if (is_of_calls(lane) || std::ranges::none_of(timeline.lanes, is_of_calls)) return std::nullopt;
  const auto row = kernel_of(opened, lane, lane.slices[place.slice]);
  const auto span = row && row->correlation_id != 0 ? launch_of(timeline, place) : std::nullopt;
  auto reader = traces::Reader::open(opened.recording().path);
  if (!span || !reader) return std::nullopt;
  const TimeRange time{time_of(timeline, *span).start_ns, row->start_ns + 1};
  for (std::size_t calls = 0; calls < timeline.lanes.size(); ++calls)
    if (is_of_calls(timeline.lanes[calls]))
      if (const auto slice = call_in(*reader, timeline.lanes[calls].slices, time, row->correlation_id))
        return SlicePlace{calls, *slice};
  return std::nullopt;
}

std::optional<SlicePlace> parent_of(const OpenedRecording& opened, const Timeline& timeline,
                                    const SlicePlace& place) {
  const Lane& lane = timeline.lanes[place.lane];
  const LaneSlice slice = lane.slices[place.slice];
  if (const auto launch = launch_of(timeline, place)) return launch;
  if (lane.kind == LaneKind::requests) return std::nullopt;
  if (lane.kind == LaneKind::rounds)
    return in_lanes_of(timeline, LaneKind::requests, lane.owner, slice.time.start_ns);
  for (std::size_t above = place.lane; above-- > 0;) {
    const Lane& candidate = timeline.lanes[above];
    if (candidate.kind != lane.kind || candidate.owner != lane.owner) break;
    const auto found = slice_at_time(candidate.slices, slice.time.start_ns);
    if (found && candidate.slices.end_ns(*found) >= slice.time.end_ns) return SlicePlace{above, *found};
  }
  if (slice.round_index != no_index) {
    const std::int64_t run_id = opened.runs()[opened.run_of(slice.round_index)].run->id.value();
    if (const auto round = in_lanes_of(timeline, LaneKind::rounds, run_id, slice.time.start_ns)) return round;
  }
  return in_lanes_of(timeline, LaneKind::requests, 0, slice.time.start_ns);
}

std::optional<SliceDetails> slice_details(const OpenedRecording& opened, const Timeline& timeline,
                                          const SlicePlace& place,
                                          const std::function<bool()>& should_continue) {
  const Lane& lane = timeline.lanes[place.lane];
  const LaneSlice slice = lane.slices[place.slice];
  const RunFinder runs(opened, timeline);
  SliceDetails details;
  details.place = place;
  details.name = timeline.names[slice.name];
  details.lane_kind = lane.kind;
  details.time = slice.time;
  details.phase = slice.phase;
  details.layer = slice.layer;
  details.round_index = slice.round_index;
  details.run_index = runs.of(lane, place.slice);
  if (details.name == draft_step_name && slice.round_index != no_index)
    details.tokens = tokens_of_step(opened, slice.round_index, draft_step_of(lane.slices, place.slice));
  details.request_index = request_index_of(opened, timeline, details);
  details.rows = rows_of(opened, details);
  details.parent = parent_of(opened, timeline, place);
  details.inside_ns = inside_ns(timeline, place, slice.time);
  details.shared_ns = shared_until_ns(timeline, place) - slice.time.start_ns;
  details.kernel = kernel_of(opened, lane, slice);
  details.call = call_of(opened, timeline, place);

  // A round's phase is only the one that took most time, so it does not make another kind.
  const bool has_phase = lane.kind == LaneKind::track;
  constexpr std::size_t slices_per_question = 1 << 16;
  std::vector<std::int64_t> lengths;
  for (const Lane& other : timeline.lanes) {
    if (!is_of_kind(lane, other)) continue;
    for (std::size_t i = 0; i < other.slices.size(); ++i) {
      if (i % slices_per_question == 0 && !should_continue()) return std::nullopt;
      if (other.slices.name(i) != slice.name || (has_phase && other.slices.phase(i) != slice.phase)) continue;
      if (runs.of(other, i) == details.run_index)
        lengths.push_back(other.slices.end_ns(i) - other.slices.start_ns(i));
    }
  }
  const std::int64_t length = slice.time.duration_ns();
  details.kind_size = lengths.size();
  details.rank = 1 + static_cast<std::size_t>(std::count_if(
                         lengths.begin(), lengths.end(), [&](std::int64_t other) { return other > length; }));
  details.kind_longest_ns = *std::max_element(lengths.begin(), lengths.end());
  details.kind_median_ns = lower_median(lengths);
  return details;
}

}  // namespace draftscope::gui
