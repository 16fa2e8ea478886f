// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace draftscope::simulator {

namespace {

void add_round(const traces::Round& round, std::span<const DeviceInterval> intervals, DeviceTime& time) {
  if (intervals.empty()) return;
  const auto clipped = [&](std::int64_t ns) { return std::clamp(ns, round.start_ns, round.end_ns); };
  // An activity completely outside the round is clipped to zero length at one end.
  const std::int64_t first_ns = clipped(intervals.front().start_ns);
  std::int64_t last_ns = first_ns;
  std::int64_t busy_ns = 0;
  Attribution attribution;
  std::uint32_t launch = intervals.front().launch;
  for (const DeviceInterval& interval : intervals) {
    const std::int64_t from = clipped(interval.start_ns);
    const std::int64_t to = clipped(interval.end_ns);
    time.outside_ns += (interval.end_ns - interval.start_ns) - (to - from);
    const std::int64_t added_ns = attribution.add(from, to).ns();
    busy_ns += added_ns;
    time.busy_by_phase[static_cast<std::size_t>(interval.phase)] += added_ns;
    if (gap_kind(std::exchange(launch, interval.launch), interval.launch) == GapKind::launch)
      time.gap_launch_ns += std::max<std::int64_t>(from - last_ns, 0);
    last_ns = std::max(last_ns, to);
  }
  const std::int64_t wall_ns = round.end_ns - round.start_ns;
  time.rounds += 1;
  time.activities += static_cast<std::int64_t>(intervals.size());
  time.wall_ns += wall_ns;
  time.busy_ns += busy_ns;
  time.gap_ns += (last_ns - first_ns) - busy_ns;
  time.host_ns += wall_ns - (last_ns - first_ns);
}

}  // namespace

Result<std::vector<DeviceInterval>> read_device_intervals(traces::Reader& reader,
                                                          const traces::Recording& recording) {
  std::unordered_set<traces::TrackId> streams;
  for (const traces::Track& track : recording.tracks)
    if (track.kind == "stream") streams.insert(track.id);
  std::vector<DeviceInterval> intervals;
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    if (kernel.round_id != 0 && streams.contains(kernel.track_id))
      intervals.push_back(
          {kernel.round_id, kernel.start_ns, kernel.end_ns, kernel.phase, launch_number(kernel)});
    return true;
  }));
  std::sort(intervals.begin(), intervals.end(), [](const DeviceInterval& a, const DeviceInterval& b) {
    return std::tie(a.round_id, a.start_ns, a.end_ns) < std::tie(b.round_id, b.start_ns, b.end_ns);
  });
  return intervals;
}

DeviceTime device_time(const RunRows& run, std::span<const DeviceInterval> intervals) {
  DeviceTime time;
  if (intervals.empty()) return time;
  for (const RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) {
      const auto before = [](const DeviceInterval& interval, traces::RoundId id) {
        return interval.round_id < id;
      };
      const auto begin = std::lower_bound(intervals.begin(), intervals.end(), round.id, before);
      auto end = begin;
      while (end != intervals.end() && end->round_id == round.id) ++end;
      add_round(round, {begin, end}, time);
    }
  return time;
}

}  // namespace draftscope::simulator
