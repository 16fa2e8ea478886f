// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "data/id_index.h"

namespace draftscope::gui {

namespace {

bool is_of_run(const Lane& lane) {
  return lane.kind == LaneKind::requests || lane.kind == LaneKind::rounds;
}

ShownGroup group_of(const Lane& lane) {
  if (lane.kind == LaneKind::decisions)
    return {.kind = ShownGroup::GroupKind::decisions, .key = "decisions", .name = "decisions"};
  return {.kind = ShownGroup::GroupKind::track,
          .key = "track " + lane.track_kind + ' ' + lane.name,
          .name = lane.name,
          .track_kind = lane.track_kind};
}

/// One group per run that the recording names and that has lanes.
std::vector<ShownGroup> run_groups(const Timeline& timeline, const OpenedRecording& opened) {
  const IdIndex<traces::RunId> indices(opened.recording().runs,
                                       [](const traces::Run& run) { return run.id; });
  std::vector<std::string> names;
  for (const traces::Run& run : opened.recording().runs) names.push_back(run.specification);
  const std::vector<std::string> short_names = distinct_names(names);
  std::map<std::size_t, ShownGroup> by_run;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Lane& lane = timeline.lanes[i];
    if (!is_of_run(lane)) continue;
    const std::size_t run = indices[traces::RunId::from(lane.owner)];
    if (run >= names.size()) continue;
    ShownGroup& group = by_run[run];
    group.lanes.push_back(i);
    group.kind = ShownGroup::GroupKind::run;
    group.run_index = run;
    group.key = "run " + names[run];
    group.name = names[run];
    group.short_name = short_names[run];
  }
  std::vector<ShownGroup> groups;
  groups.reserve(by_run.size());
  for (auto& [run, group] : by_run) groups.push_back(std::move(group));
  return groups;
}

bool is_of_device(const ShownGroup& group) {
  return group.track_kind == "stream" || group.track_kind == "operations";
}

/// Rank from the top where a device was recorded.
int rank_beside_device(const ShownGroup& group) {
  if (group.track_kind == "host") return 0;
  if (is_of_device(group)) return 1;
  return group.kind == ShownGroup::GroupKind::run ? 2 : 3;
}

std::vector<ShownGroup> track_groups(const Timeline& timeline) {
  std::vector<ShownGroup> groups;
  const Lane* before = nullptr;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Lane& lane = timeline.lanes[i];
    if (is_of_run(lane)) continue;
    if (before == nullptr || before->kind != lane.kind || before->owner != lane.owner)
      groups.push_back(group_of(lane));
    groups.back().lanes.push_back(i);
    groups.back().short_name = groups.back().name;
    before = &lane;
  }
  return groups;
}

}  // namespace

std::vector<ShownGroup> shown_groups(const Timeline& timeline, const OpenedRecording& opened) {
  std::vector<ShownGroup> groups = run_groups(timeline, opened);
  std::vector<ShownGroup> tracks = track_groups(timeline);
  groups.insert(groups.end(), tracks.begin(), tracks.end());
  if (std::ranges::any_of(groups, is_of_device)) std::ranges::stable_sort(groups, {}, rank_beside_device);
  for (std::size_t i = 0; i < timeline.counters.size(); ++i)
    groups.push_back({.kind = ShownGroup::GroupKind::counter,
                      .key = "counter " + timeline.counters[i].name,
                      .name = timeline.counters[i].name,
                      .short_name = timeline.counters[i].name,
                      .counter = i});
  return groups;
}

std::vector<std::size_t> collapsed_lanes(const Timeline& timeline, const ShownGroup& group) {
  if (group.lanes.empty()) return {};
  if (group.kind != ShownGroup::GroupKind::run) return {group.lanes.front()};
  std::vector<std::size_t> rounds;
  std::copy_if(group.lanes.begin(), group.lanes.end(), std::back_inserter(rounds),
               [&](std::size_t lane) { return timeline.lanes[lane].kind == LaneKind::rounds; });
  // A run may have only requests.
  return rounds.empty() ? std::vector{group.lanes.front()} : rounds;
}

BusyColumns::ByPhase busy_time(const Lane& lane, TimeRange time) {
  if (!lane.columns.empty()) return lane.columns.summarise(time);
  const BusySummary busy = lane.pyramid.summarise(lane.slices, time);
  BusyColumns::ByPhase by_phase{};
  std::copy(busy.by_phase_ns.begin(), busy.by_phase_ns.end(), by_phase.begin());
  return by_phase;
}

bool is_busy(const Lane& lane, TimeRange time) {
  if (lane.columns.empty()) {
    const std::size_t first = lane.slices.first_ending_after(time.start_ns);
    return first < lane.slices.size() && lane.slices.start_ns(first) < time.end_ns;
  }
  const BusyColumns::ByPhase busy = busy_time(lane, time);
  return std::any_of(busy.begin(), busy.end(), [](double ns) { return ns > 0.0; });
}

namespace {

struct Parts {
  std::string strategy;
  std::vector<std::string> parameters;
};

Parts parts_of(std::string_view specification) {
  const std::size_t colon = std::min(specification.find(':'), specification.size());
  Parts parts{std::string(specification.substr(0, colon)), {}};
  for (std::size_t at = colon + 1; at < specification.size();) {
    const std::size_t end = std::min(specification.find(',', at), specification.size());
    parts.parameters.emplace_back(specification.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& specifications) {
  std::vector<Parts> all;
  std::map<std::string, std::size_t> runs_of;                          // [strategy]
  std::map<std::string, std::map<std::string, std::size_t>> users_of;  // [strategy][parameter]
  for (const std::string& specification : specifications) {
    all.push_back(parts_of(specification));
    ++runs_of[all.back().strategy];
    const std::set<std::string> parameters(all.back().parameters.begin(), all.back().parameters.end());
    for (const std::string& parameter : parameters) ++users_of[all.back().strategy][parameter];
  }
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> meanings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string name = all[i].strategy;
    for (const std::string& parameter : all[i].parameters)
      if (users_of[all[i].strategy][parameter] < runs_of[all[i].strategy]) name += ' ' + parameter;
    meanings[name].insert(specifications[i]);
    names.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (meanings[names[i]].size() > 1) names[i] = specifications[i];
  return names;
}

}  // namespace draftscope::gui
