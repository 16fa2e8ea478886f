// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_builder.h"

#include <algorithm>

namespace draftscope::gui {

namespace {

bool is_same(const LaneGroup& a, const LaneGroup& b) {
  return a.kind == b.kind && a.id == b.id;
}

const traces::Track* find_track(const traces::Recording& recording, std::int64_t id) {
  const auto found = std::find_if(recording.tracks.begin(), recording.tracks.end(),
                                  [&](const traces::Track& track) { return track.id == id; });
  return found == recording.tracks.end() ? nullptr : &*found;
}

void widen(TimeRange& whole, bool& is_first, TimeRange time) {
  whole.start_ns = is_first ? time.start_ns : std::min(whole.start_ns, time.start_ns);
  whole.end_ns = is_first ? time.end_ns : std::max(whole.end_ns, time.end_ns);
  is_first = false;
}

}  // namespace

std::uint32_t LaneBuilder::name(const std::string& text) {
  const auto [found, is_new] = names_.try_emplace(text, static_cast<std::uint32_t>(timeline_.names.size()));
  if (is_new) timeline_.names.push_back(text);
  return found->second;
}

void LaneBuilder::add(const LaneGroup& group, std::int32_t depth, const LaneSlice& slice) {
  if (last_lanes_ == nullptr || depth != last_depth_ || !is_same(group, last_group_)) {
    last_lanes_ = &groups_[group][depth];
    last_group_ = group;
    last_depth_ = depth;
  }
  Lanes& lanes = *last_lanes_;
  auto lane = std::find_if(lanes.begin(), lanes.end(),
                           [&](const Open& open) { return open.end_ns <= slice.time.start_ns; });
  if (lane == lanes.end()) lane = lanes.emplace(lanes.end());
  LaneSlice kept = slice;
  kept.time.end_ns = std::max(kept.time.end_ns, kept.time.start_ns);
  lane->slices.add(kept);
  lane->end_ns = kept.time.end_ns;
}

void LaneBuilder::add(const traces::Counter& counter) {
  CounterLane& lane = counters_[counter.track];
  lane.timestamp_ns.push_back(counter.timestamp_ns);
  lane.value.push_back(counter.value);
}

void LaneBuilder::launch(std::int64_t kernel, std::int64_t span) {
  if (kernel > 0 && kernel < no_index && span > 0 && span < no_index)
    timeline_.launches.emplace_back(static_cast<std::uint32_t>(kernel), static_cast<std::uint32_t>(span));
}

std::string LaneBuilder::group_name(const LaneGroup& group) const {
  if (group.kind == LaneKind::decisions) return "decisions";
  if (group.kind == LaneKind::track) {
    const traces::Track* track = find_track(*recording_, group.id);
    return track == nullptr ? "unknown track" : track->name;
  }
  const auto run = std::find_if(recording_->runs.begin(), recording_->runs.end(),
                                [&](const traces::Run& candidate) { return candidate.id == group.id; });
  return run->specification;
}

Timeline LaneBuilder::finish() && {
  bool is_first = true;
  for (auto& [group, depths] : groups_) {
    const std::string name = group_name(group);
    const traces::Track* track = group.kind == LaneKind::track ? find_track(*recording_, group.id) : nullptr;
    std::int32_t row = 0;
    for (auto& [depth, lanes] : depths)
      for (Open& open : lanes) {
        const std::size_t count = open.slices.size();
        widen(timeline_.whole, is_first, {open.slices.start_ns(0), open.slices.end_ns(count - 1)});
        BusyPyramid pyramid(open.slices);
        timeline_.lanes.push_back({group.kind, name, track == nullptr ? "" : track->kind, row++,
                                   std::move(open.slices), std::move(pyramid)});
      }
  }
  for (auto& [id, lane] : counters_) {
    const traces::Track* track = find_track(*recording_, id);
    lane.name = track == nullptr ? "unknown counter" : track->name;
    timeline_.counters.push_back(std::move(lane));
  }
  std::sort(timeline_.launches.begin(), timeline_.launches.end());
  return std::move(timeline_);
}

}  // namespace draftscope::gui
