// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/attribution.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace draftscope::simulator {

namespace {

using Strings = std::unordered_map<traces::StringId, std::string>;
using TimesByName = std::unordered_map<traces::StringId, NamedTime>;

std::vector<NamedTime> ordered(TimesByName&& times, const Strings& strings) {
  std::vector<NamedTime> list;
  list.reserve(times.size());
  for (auto& [id, time] : times) {
    const auto name = strings.find(id);
    if (name != strings.end()) time.name = name->second;
    list.push_back(std::move(time));
  }
  std::ranges::sort(list, [](const NamedTime& a, const NamedTime& b) {
    return std::tie(b.ns, a.name) < std::tie(a.ns, b.name);
  });
  return list;
}

}  // namespace

Result<TimelineSummary> summarise_timeline(traces::Reader& reader) {
  TimelineSummary summary{
      .start_ns = std::numeric_limits<std::int64_t>::max(), .by_range = {}, .by_activity = {}};
  DRAFTSCOPE_TRY_ASSIGN(const Strings strings, reader.strings());
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.outline());
  const auto extend = [&summary](const auto& row) {
    summary.start_ns = std::min(summary.start_ns, row.start_ns);
    summary.end_ns = std::max(summary.end_ns, row.end_ns);
  };

  TimesByName ranges;
  std::vector<traces::StringId> open;  // Names of the ranges around the current one, by depth.
  DRAFTSCOPE_TRY(reader.spans([&](const traces::Span& span) {
    extend(span);
    ++summary.ranges;
    NamedTime& time = ranges[span.name_id];
    ++time.count;
    time.ns += static_cast<double>(span.end_ns - span.start_ns);
    open.resize(std::min<std::size_t>(span.depth, open.size()));
    if (!span.parent_id.is_none() && !open.empty())
      ranges[open.back()].ns -= static_cast<double>(span.end_ns - span.start_ns);
    open.push_back(span.name_id);
    return true;
  }));

  std::unordered_set<traces::TrackId> streams;
  for (const traces::Track& track : recording.tracks)
    if (track.kind == "stream") streams.insert(track.id);
  TimesByName activities;
  std::vector<std::pair<std::int64_t, std::int64_t>> busy;
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    extend(kernel);
    ++summary.device_activities;
    NamedTime& time = activities[kernel.short_name_id];
    ++time.count;
    time.ns += static_cast<double>(kernel.end_ns - kernel.start_ns);
    if (streams.contains(kernel.track_id)) busy.emplace_back(kernel.start_ns, kernel.end_ns);
    return true;
  }));
  summary.start_ns = std::min(summary.start_ns, summary.end_ns);
  std::ranges::sort(busy);
  Attribution attribution;
  for (const auto& [start_ns, end_ns] : busy)
    summary.device_busy_ns += attribution.add(start_ns, end_ns).ns();
  summary.by_range = ordered(std::move(ranges), strings);
  summary.by_activity = ordered(std::move(activities), strings);
  return summary;
}

}  // namespace draftscope::simulator
