// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/operation_times.h>
#include <draftscope/simulator/analysis/operations.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace draftscope::simulator {

namespace {

struct NameOfKind {
  std::string_view name;  ///< As the engine's backends name spans and operations.
  std::size_t kind;       ///< Index into operation_kinds.
};

constexpr std::array<NameOfKind, 9> names_of_kinds{{{"attention norm", 0},
                                                    {"qkv", 0},
                                                    {"rope", 0},
                                                    {"attention", 0},
                                                    {"output projection", 0},
                                                    {"mlp norm", 1},
                                                    {"gate up", 1},
                                                    {"down", 1},
                                                    {"head", 2}}};

/// The kind of an operation; names of kernels go on after a colon.
std::optional<std::size_t> kind_of(std::string_view name) {
  name = name.substr(0, name.find(':'));
  const auto found = std::find_if(names_of_kinds.begin(), names_of_kinds.end(),
                                  [&](const NameOfKind& row) { return row.name == name; });
  if (found == names_of_kinds.end()) return std::nullopt;
  return found->kind;
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
  for (const traces::Request& request : recording.requests) run_of.emplace(request.id, request.run_id);
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
