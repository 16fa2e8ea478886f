// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_builder.h"

#include <draftscope/simulator/analysis/device_timeline.h>

#include <algorithm>
#include <numeric>

namespace draftscope::gui {

namespace {

bool is_same(const LaneGroup& a, const LaneGroup& b) {
  return a.kind == b.kind && a.owner == b.owner;
}

const traces::Track* find_track(const traces::Recording& recording, traces::TrackId track_id) {
  const auto found = std::find_if(recording.tracks.begin(), recording.tracks.end(),
                                  [&](const traces::Track& track) { return track.id == track_id; });
  return found == recording.tracks.end() ? nullptr : &*found;
}

void widen(TimeRange& whole, bool& is_first, TimeRange time) {
  whole.start_ns = is_first ? time.start_ns : std::min(whole.start_ns, time.start_ns);
  whole.end_ns = is_first ? time.end_ns : std::max(whole.end_ns, time.end_ns);
  is_first = false;
}

/// Sorts slices by start, and puts each into the first lane that is free by then.
std::vector<LaneSlices> without_overlap(LaneSlices slices) {
  std::vector<std::uint32_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(slices.start_ns(a), slices.row_id(a)) < std::pair(slices.start_ns(b), slices.row_id(b));
  });
  std::vector<std::vector<std::uint32_t>> lanes;
  for (const std::uint32_t index : order) {
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const std::vector<std::uint32_t>& taken) {
      return slices.end_ns(taken.back()) <= slices.start_ns(index);
    });
    if (lane == lanes.end()) lane = lanes.emplace(lanes.end());
    lane->push_back(index);
  }
  std::vector<LaneSlices> result;
  result.reserve(lanes.size());
  for (const std::vector<std::uint32_t>& lane : lanes) result.push_back(slices.reordered(lane));
  return result;
}

}  // namespace

std::string group_name(const traces::Recording& recording, const LaneGroup& group) {
  if (group.kind == LaneKind::decisions) return "decisions";
  if (group.kind == LaneKind::track) {
    const traces::Track* track = find_track(recording, traces::TrackId::from(group.owner));
    return track == nullptr ? "unknown track" : track->name;
  }
  const auto run_id = traces::RunId::from(group.owner);
  const auto run = std::find_if(recording.runs.begin(), recording.runs.end(),
                                [&](const traces::Run& candidate) { return candidate.id == run_id; });
  return run == recording.runs.end() ? "unknown run" : run->specification;
}

std::string track_kind(const traces::Recording& recording, const LaneGroup& group) {
  const traces::Track* track =
      group.kind == LaneKind::track ? find_track(recording, traces::TrackId::from(group.owner)) : nullptr;
  return track == nullptr ? "" : track->kind;
}

LaneNames::LaneNames(const std::unordered_map<traces::StringId, std::string>& strings)
    : names_{"request", "round", "unnamed", "last blocks"} {
  std::vector<std::pair<traces::StringId, const std::string*>> rows;
  rows.reserve(strings.size());
  for (const auto& [id, text] : strings) rows.emplace_back(id, &text);
  std::sort(rows.begin(), rows.end());
  index_ = IdIndex<traces::StringId>(rows, [](const auto& row) { return row.first; });
  std::unordered_map<std::string, std::uint32_t> known;
  for (const std::string& name : names_) known.emplace(name, static_cast<std::uint32_t>(known.size()));
  whole_ = names_;
  name_of_.reserve(rows.size());
  for (const auto& [id, text] : rows) {
    std::string name = simulator::short_kernel_name(*text);
    const auto [found, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) {
      names_.push_back(std::move(name));
      whole_.push_back(*text);
    }
    name_of_.push_back(found->second);
  }
}

void LaneBuilder::add(const LaneGroup& group, std::int32_t depth, const LaneSlice& slice) {
  if (last_ == nullptr || depth != last_depth_ || !is_same(group, last_group_)) {
    last_ = &groups_[group][depth];
    last_group_ = group;
    last_depth_ = depth;
  }
  LaneSlice kept = slice;
  kept.time.end_ns = std::max(kept.time.end_ns, kept.time.start_ns);
  last_->is_in_order = last_->is_in_order && kept.time.start_ns >= last_->end_ns;
  last_->end_ns = std::max(last_->end_ns, kept.time.end_ns);
  last_->slices.add(kept);
}

void LaneBuilder::add(const traces::Counter& counter) {
  CounterLane& lane = counters_[counter.track_id];
  lane.timestamp_ns.push_back(counter.timestamp_ns);
  lane.value.push_back(counter.value);
}

void LaneBuilder::launch(traces::KernelId kernel_id, traces::SpanId span_id) {
  const std::int64_t kernel = kernel_id.value();
  const std::int64_t span = span_id.value();
  if (kernel > 0 && kernel < no_index && span > 0 && span < no_index)
    launches_.emplace_back(static_cast<std::uint32_t>(kernel), static_cast<std::uint32_t>(span));
}

std::uint32_t LaneBuilder::add_name(const LaneNames& names, const std::string& name, std::uint32_t recorded) {
  const auto known = std::find(names.all().begin(), names.all().end(), name);
  if (known != names.all().end()) return static_cast<std::uint32_t>(known - names.all().begin());
  const auto added = std::find_if(more_names_.begin(), more_names_.end(),
                                  [&](const auto& more) { return more.first == name; });
  const auto place = static_cast<std::uint32_t>(names.all().size() + (added - more_names_.begin()));
  if (added == more_names_.end()) more_names_.emplace_back(name, recorded);
  return place;
}

void LaneBuilder::add(LaneBuilder&& later) {
  if (more_names_.empty()) more_names_ = std::move(later.more_names_);
  for (auto& [group, depths] : later.groups_)
    for (auto& [depth, lane] : depths) {
      LaneSpans& into = groups_[group][depth];
      const bool follows = into.slices.size() == 0 || lane.slices.start_ns(0) >= into.end_ns;
      into.is_in_order = into.is_in_order && lane.is_in_order && follows;
      into.end_ns = std::max(into.end_ns, lane.end_ns);
      into.slices.append(std::move(lane.slices));
    }
  for (auto& [track_id, lane] : later.counters_) {
    CounterLane& into = counters_[track_id];
    into.timestamp_ns.insert(into.timestamp_ns.end(), lane.timestamp_ns.begin(), lane.timestamp_ns.end());
    into.value.insert(into.value.end(), lane.value.begin(), lane.value.end());
  }
  launches_.insert(launches_.end(), later.launches_.begin(), later.launches_.end());
  later = {};
}

Timeline LaneBuilder::finish(const traces::Recording& recording, const LaneNames& names,
                             const IdIndex<traces::RoundId>& rounds) && {
  Timeline timeline;
  timeline.names = names.all();
  timeline.whole_names = names.whole();
  for (const auto& [name, recorded] : more_names_) {
    timeline.names.push_back(name);
    timeline.whole_names.push_back(names.whole()[recorded]);
  }
  bool is_first = true;
  for (auto& [group, depths] : groups_) {
    std::int32_t row = 0;
    for (auto& [depth, gathered] : depths) {
      std::vector<LaneSlices> lanes;
      if (gathered.is_in_order)
        lanes.push_back(std::move(gathered.slices));
      else
        lanes = without_overlap(std::move(gathered.slices));
      for (LaneSlices& slices : lanes) {
        slices.translate_rounds(
            [&](std::uint32_t id) { return id == 0 ? no_index : rounds[traces::RoundId::from(id)]; });
        widen(timeline.whole, is_first, {slices.start_ns(0), slices.end_ns(slices.size() - 1)});
        BusyPyramid pyramid(slices);
        timeline.lanes.push_back({.kind = group.kind,
                                  .owner = group.owner,
                                  .name = group_name(recording, group),
                                  .track_kind = track_kind(recording, group),
                                  .depth = row++,
                                  .slices = std::move(slices),
                                  .pyramid = std::move(pyramid),
                                  .columns = {}});
      }
    }
  }
  for (auto& [track_id, lane] : counters_) {
    const traces::Track* track = find_track(recording, track_id);
    lane.name = track == nullptr ? "unknown counter" : track->name;
    timeline.counters.push_back(std::move(lane));
  }
  std::sort(launches_.begin(), launches_.end());
  timeline.launches = std::move(launches_);
  return timeline;
}

}  // namespace draftscope::gui
