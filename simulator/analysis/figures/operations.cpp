// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/operations.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

OperationTracks operation_tracks(const traces::Recording& recording) {
  OperationTracks tracks;
  for (const traces::Track& track : recording.tracks) {
    const bool is_timed = track.kind == "operations";
    if (is_timed && !std::exchange(tracks.timed_by_device, true)) tracks.ids.clear();
    if (is_timed || (track.kind == "stream" && !tracks.timed_by_device)) tracks.ids.insert(track.id);
  }
  return tracks;
}

AttributedTime OperationClock::attribute(std::int64_t start_ns, std::int64_t end_ns, traces::SpanId span) {
  const bool follows = timed_by_device_ && !span.is_none() && span == span_;
  span_ = span;
  return attribution_.add(follows ? attribution_.until_ns() : start_ns, end_ns);
}

std::optional<double> OperationFigures::rate_gb_s() const {
  if (bytes <= 0 || ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(ns);
}

Result<RecordedOperations> read_operations(traces::Reader& reader, const traces::Recording& recording) {
  const OperationTracks tracks = operation_tracks(recording);
  RecordedOperations found{.timed_by_device = tracks.timed_by_device};
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::unordered_map<traces::RequestId, traces::RunId> run_of;
  for (const RunRows& run : finished_requests(recording))
    for (const RequestRows& rows : run.requests) run_of.emplace(rows.request->id, run.run->id);

  using Key = std::tuple<traces::RunId, traces::Phase, traces::StringId>;
  std::map<Key, OperationFigures> sums;
  std::map<traces::TrackId, OperationClock> clocks;
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    if (!tracks.ids.contains(kernel.track_id)) return true;
    OperationClock& clock = clocks.try_emplace(kernel.track_id, tracks.timed_by_device).first->second;
    const std::int64_t ns = clock.add(kernel);
    const auto run = run_of.find(kernel.request_id);
    if (kernel.round_id.is_none() || run == run_of.end()) return true;
    OperationFigures& sum = sums[{run->second, kernel.phase, kernel.short_name_id}];
    sum.executions += 1;
    sum.ns += ns;
    sum.bytes += kernel.bytes;
    if (tracks.timed_by_device) {
      sum.wait_ns += kernel.wait_ns;
      sum.before_ns += std::max<std::int64_t>(ns - (kernel.end_ns - kernel.start_ns), 0);
    }
    return true;
  }));
  for (auto& [key, sum] : sums) {
    std::tie(sum.run, sum.phase, std::ignore) = key;
    const auto name = strings.find(std::get<traces::StringId>(key));
    sum.name = name == strings.end() ? std::string() : name->second;
    found.rows.push_back(std::move(sum));
  }
  std::stable_sort(found.rows.begin(), found.rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.run, a.phase, -a.ns) < std::tuple(b.run, b.phase, -b.ns);
  });
  if (const auto gpu = find_gpu_of_driver(recorded_gpu_name(recording.meta)))
    found.read_gb_s = gpu->bandwidth_gb_s * gpu->read_efficiency;
  return found;
}

std::vector<TimeOfOperations> times_of(const RecordedOperations& operations) {
  std::vector<TimeOfOperations> times;
  for (auto row = operations.rows.begin(); row != operations.rows.end();) {
    const auto end = std::find_if(row, operations.rows.end(), [&](const OperationFigures& other) {
      return other.run != row->run || other.phase != row->phase;
    });
    TimeOfOperations& time = times.emplace_back();
    time.run = row->run;
    time.phase = row->phase;
    time.longest = row->name;
    const auto sum = [&](std::int64_t OperationFigures::*member) {
      return std::accumulate(row, end, std::int64_t{0},
                             [&](std::int64_t all, const auto& one) { return all + one.*member; });
    };
    time.ns = sum(&OperationFigures::ns);
    const auto share_of = [&](std::int64_t ns) {
      return time.ns > 0 ? static_cast<double>(ns) / static_cast<double>(time.ns) : 0.0;
    };
    time.longest_share = share_of(row->ns);
    time.before = share_of(sum(&OperationFigures::before_ns));
    time.waiting = share_of(sum(&OperationFigures::wait_ns));
    const std::int64_t bytes = sum(&OperationFigures::bytes);
    if (bytes > 0 && time.ns > 0 && operations.read_gb_s)
      time.reading = static_cast<double>(bytes) / *operations.read_gb_s / static_cast<double>(time.ns);
    row = end;
  }
  return times;
}

}  // namespace draftscope::simulator
