// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/operation_times.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/speculation/operation.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
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

Result<void> add_spans(traces::Reader& reader, const traces::Recording& recording, OperationSums& sums) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  std::unordered_map<traces::StringId, std::size_t> kinds;
  for (const auto& [id, name] : strings)
    if (const auto kind = kind_of(name)) kinds.emplace(id, *kind);
  std::unordered_map<traces::RequestId, traces::RunId> run_of;
  for (const RunRows& run : finished_requests(recording))
    for (const RequestRows& rows : run.requests) run_of.emplace(rows.request->id, run.run->id);
  return reader.spans([&](const traces::Span& span) {
    const auto kind = kinds.find(span.name_id);
    const auto run = run_of.find(span.request_id);
    if (kind != kinds.end() && run != run_of.end() && !span.round_id.is_none())
      add_operation(sums, run->second, span.phase, kind->second, span.end_ns - span.start_ns);
    return true;
  });
}

}  // namespace

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
