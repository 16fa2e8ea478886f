// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/speculation/operation.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

/// Index into operation_kinds of the operation of a span or kernel; none for anything else.
std::optional<std::size_t> kind_of(std::string_view name) {
  using speculation::Operation;
  const auto operation = speculation::operation_of_span(name);
  if (!operation) return std::nullopt;
  switch (*operation) {
    case Operation::head:
      return 2;
    case Operation::gate_up:
    case Operation::down:
      return 1;
    case Operation::small:
      return name.starts_with("mlp") ? 1 : 0;
    case Operation::qkv:
    case Operation::output:
    case Operation::attention:
      break;
  }
  return 0;
}

using OperationSums = std::map<std::pair<traces::RunId, traces::Phase>, OperationTimes>;

void add_operation(OperationSums& sums, traces::RunId run, traces::Phase phase, std::size_t kind,
                   std::int64_t ns) {
  OperationTimes& times = sums[{run, phase}];
  times.run = run;
  times.phase = phase;
  times.ns[kind] += ns;
}

/// Runs of the finished requests.
std::unordered_map<traces::RequestId, traces::RunId> runs_of_requests(const traces::Recording& recording) {
  std::unordered_map<traces::RequestId, traces::RunId> run_of;
  for (const RunRows& run : finished_requests(recording))
    for (const RequestRows& rows : run.requests) run_of.emplace(rows.request->id, run.run->id);
  return run_of;
}

Result<void> add_spans(traces::Reader& reader, const traces::Recording& recording, OperationSums& sums) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::unordered_map<traces::StringId, std::size_t> kinds;
  for (const auto& [id, name] : strings)
    if (const auto kind = kind_of(name)) kinds.emplace(id, *kind);
  const auto run_of = runs_of_requests(recording);
  return reader.spans([&](const traces::Span& span) {
    const auto kind = kinds.find(span.name_id);
    const auto run = run_of.find(span.request_id);
    if (kind != kinds.end() && run != run_of.end() && !span.round_id.is_none())
      add_operation(sums, run->second, span.phase, kind->second, span.end_ns - span.start_ns);
    return true;
  });
}

}  // namespace

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
  const auto run_of = runs_of_requests(recording);

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

Result<std::vector<OperationTimes>> read_operation_times(traces::Reader& reader,
                                                         const traces::Recording& recording) {
  OperationSums sums;
  DRAFTSCOPE_TRY_ASSIGN(const RecordedOperations operations, read_operations(reader, recording));
  for (const OperationFigures& row : operations.rows)
    if (const auto kind = kind_of(row.name)) add_operation(sums, row.run, row.phase, *kind, row.ns);
  // With a device, spans are times of launches.
  if (operations.rows.empty()) DRAFTSCOPE_TRY(add_spans(reader, recording, sums));
  std::vector<OperationTimes> times;
  for (auto& [key, sum] : sums) times.push_back(sum);
  // Spans of level `layers` name the head alone, which says nothing of the rest.
  const bool has_layers = std::any_of(times.begin(), times.end(),
                                      [](const OperationTimes& sum) { return sum.ns[0] + sum.ns[1] > 0; });
  return has_layers ? times : std::vector<OperationTimes>{};
}

}  // namespace draftscope::simulator
