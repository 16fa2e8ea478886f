// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline.h"

#include <algorithm>
#include <map>

#include "lane_builder.h"

namespace draftscope::gui {

namespace {

LaneKind kind_of(traces::LaneOf lane) {
  switch (lane) {
    case traces::LaneOf::requests:
      return LaneKind::requests;
    case traces::LaneOf::rounds:
      return LaneKind::rounds;
    case traces::LaneOf::decisions:
      return LaneKind::decisions;
    default:
      return LaneKind::track;
  }
}

bool is_in(const traces::Recording& recording, const LaneGroup& group) {
  const auto run_id = traces::RunId::from(group.owner);
  return group.kind == LaneKind::track || group.kind == LaneKind::decisions ||
         std::ranges::any_of(recording.runs, [&](const traces::Run& run) { return run.id == run_id; });
}

}  // namespace

bool is_side_by_side(const Lane& lane) {
  return lane.track_kind == "stream" || lane.track_kind == "calls" || lane.track_kind == "sync" ||
         lane.track_kind == "overhead" || lane.track_kind == "block";
}

std::size_t Timeline::slices() const {
  std::size_t all = 0;
  for (const Lane& lane : lanes) all += lane.slices.size();
  return all;
}

std::size_t Timeline::bytes() const {
  std::size_t all = 0;
  for (const Lane& lane : lanes) all += lane.slices.bytes() + lane.pyramid.bytes() + lane.columns.bytes();
  return all;
}

Timeline overview_timeline(const traces::Recording& outline, const traces::Overview& overview) {
  std::map<LaneGroup, std::map<std::int32_t, BusyColumns>> groups;
  BusyColumns* columns = nullptr;
  const traces::LaneColumn* before = nullptr;
  for (const traces::LaneColumn& row : overview.lanes) {
    const LaneGroup group{kind_of(row.lane), row.owner};
    // Columns of one lane are adjacent.
    if (before == nullptr || before->lane != row.lane || before->owner != row.owner ||
        before->depth != row.depth)
      columns = is_in(outline, group)
                    ? &groups[group].try_emplace(row.depth, overview.column_ns).first->second
                    : nullptr;
    before = &row;
    if (columns != nullptr && row.busy_ns > 0) columns->add(row.start_ns, row.phase, row.busy_ns);
  }
  Timeline timeline;
  for (auto& [group, depths] : groups) {
    std::int32_t row = 0;
    for (auto& [depth, lane] : depths) {
      if (lane.empty()) continue;
      const TimeRange time = lane.whole();
      timeline.whole = timeline.lanes.empty() ? time
                                              : TimeRange{std::min(timeline.whole.start_ns, time.start_ns),
                                                          std::max(timeline.whole.end_ns, time.end_ns)};
      timeline.lanes.push_back({.kind = group.kind,
                                .owner = group.owner,
                                .name = group_name(outline, group),
                                .track_kind = track_kind(outline, group),
                                .depth = row++,
                                .slices = {},
                                .pyramid = {},
                                .columns = std::move(lane)});
    }
  }
  return timeline;
}

}  // namespace draftscope::gui
