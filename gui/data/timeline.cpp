// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "lane_builder.h"

namespace draftscope::gui {

namespace {

constexpr std::int64_t rows_a_progress = 1 << 18;

std::unordered_map<std::int64_t, std::uint32_t> round_indices(const traces::Recording& recording) {
  std::unordered_map<std::int64_t, std::uint32_t> indices;
  indices.reserve(recording.rounds.size());
  for (std::size_t i = 0; i < recording.rounds.size(); ++i)
    indices.emplace(recording.rounds[i].id, static_cast<std::uint32_t>(i));
  return indices;
}

/// What time a request took, as far as it is known: a cut-off one ends with its last round.
TimeRange time_of(const traces::Request& request, std::int64_t last_round_end_ns) {
  return {request.start_ns, std::max({request.start_ns, request.end_ns, last_round_end_ns})};
}

void add_requests_and_rounds(const traces::Recording& recording, LaneBuilder& builder) {
  std::unordered_map<std::int64_t, std::int64_t> last_round_end;
  std::unordered_map<std::int64_t, const traces::Run*> run_of_request;
  std::unordered_map<std::int64_t, const traces::Run*> runs;
  for (const traces::Run& run : recording.runs) runs.emplace(run.id, &run);
  for (const traces::Round& round : recording.rounds) {
    std::int64_t& end = last_round_end[round.request];
    end = std::max(end, round.end_ns);
  }
  const std::uint32_t request_name = builder.name("request");
  for (const traces::Request& request : recording.requests) {
    const auto run = runs.find(request.run);
    if (run == runs.end()) continue;
    run_of_request.emplace(request.id, run->second);
    builder.add(
        {LaneKind::requests, run->second->id}, 0,
        {.time = time_of(request, last_round_end[request.id]), .name = request_name, .id = request.id});
  }
  std::vector<std::uint32_t> order(recording.rounds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return recording.rounds[a].start_ns < recording.rounds[b].start_ns;
  });
  const std::uint32_t round_name = builder.name("round");
  for (const std::uint32_t index : order) {
    const traces::Round& round = recording.rounds[index];
    const auto run = run_of_request.find(round.request);
    if (run == run_of_request.end()) continue;
    builder.add({LaneKind::rounds, run->second->id}, 0,
                {.time = {round.start_ns, round.end_ns},
                 .name = round_name,
                 .round = index,
                 .id = round.id,
                 // What most of the round went to colours it from afar.
                 .phase = round.drafted > 0 && round.draft_ns > round.verify_ns ? traces::Phase::draft
                                                                                : traces::Phase::verify});
  }
}

Result<void> add_decisions(traces::Reader& reader,
                           const std::unordered_map<std::int64_t, std::uint32_t>& rounds,
                           const std::unordered_map<std::int64_t, std::string>& strings,
                           LaneBuilder& builder) {
  return reader.decisions([&](const traces::Decision& decision) {
    const auto round = rounds.find(decision.round);
    const auto name = strings.find(decision.kind);
    builder.add({LaneKind::decisions, 0}, 0,
                {.time = {decision.start_ns, decision.end_ns},
                 .name = builder.name(name == strings.end() ? "decision" : name->second),
                 .round = round == rounds.end() ? no_index : round->second,
                 .id = decision.id,
                 .phase = traces::Phase::optimise});
    return true;
  });
}

std::map<std::string, std::int64_t> rows_by_table(traces::Reader& reader) {
  std::map<std::string, std::int64_t> rows;
  if (const auto counts = reader.row_counts())
    for (const traces::TableCount& count : *counts) rows.emplace(count.table, count.rows);
  return rows;
}

}  // namespace

std::size_t Timeline::slices() const {
  std::size_t all = 0;
  for (const Lane& lane : lanes) all += lane.slices.size();
  return all;
}

std::size_t Timeline::bytes() const {
  std::size_t all = 0;
  for (const Lane& lane : lanes) all += lane.slices.bytes() + lane.pyramid.bytes();
  return all;
}

Result<Timeline> read_rounds_timeline(traces::Reader& reader, const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  LaneBuilder builder(recording);
  add_requests_and_rounds(recording, builder);
  DRAFTSCOPE_TRY(add_decisions(reader, round_indices(recording), strings, builder));
  return std::move(builder).finish();
}

Result<Timeline> read_timeline(traces::Reader& reader, const traces::Recording& recording,
                               const LoadProgress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  const std::unordered_map<std::int64_t, std::uint32_t> rounds = round_indices(recording);
  LaneBuilder builder(recording);
  add_requests_and_rounds(recording, builder);
  DRAFTSCOPE_TRY(add_decisions(reader, rounds, strings, builder));

  const std::map<std::string, std::int64_t> rows = rows_by_table(reader);
  const auto rows_of = [&](const char* table) {
    const auto found = rows.find(table);
    return found == rows.end() ? std::int64_t{0} : found->second;
  };
  const std::int64_t all = rows_of("spans") + rows_of("kernels") + rows_of("counters");
  std::int64_t done = 0;
  bool cancelled = false;
  const auto go_on = [&] {
    if (++done % rows_a_progress == 0 && progress) cancelled = !progress(done, all);
    return !cancelled;
  };
  std::unordered_map<std::int64_t, std::uint32_t> name_of_string;
  for (const auto& [id, text] : strings) name_of_string.emplace(id, builder.name(text));
  const std::uint32_t unnamed = builder.name("unnamed");
  const auto name = [&](std::int64_t string) {
    const auto found = name_of_string.find(string);
    return found == name_of_string.end() ? unnamed : found->second;
  };
  const auto round_index = [&](std::int64_t round) {
    const auto found = rounds.find(round);
    return found == rounds.end() ? no_index : found->second;
  };
  DRAFTSCOPE_TRY(reader.spans([&](const traces::Span& span) {
    builder.add({LaneKind::track, span.track}, span.depth,
                {.time = {span.start_ns, span.end_ns},
                 .name = name(span.name),
                 .round = round_index(span.round),
                 .id = span.id,
                 .layer = static_cast<std::int16_t>(span.layer),
                 .phase = span.phase});
    return go_on();
  }));
  if (cancelled) return fail("cancelled");
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    builder.add({LaneKind::track, kernel.track}, 0,
                {.time = {kernel.start_ns, kernel.end_ns},
                 .name = name(kernel.short_name),
                 .round = round_index(kernel.round),
                 .id = kernel.id,
                 .layer = static_cast<std::int16_t>(kernel.layer),
                 .phase = kernel.phase});
    if (kernel.span != 0) builder.launch(kernel.id, kernel.span);
    return go_on();
  }));
  if (cancelled) return fail("cancelled");
  DRAFTSCOPE_TRY(reader.counters([&](const traces::Counter& counter) {
    builder.add(counter);
    return go_on();
  }));
  if (cancelled) return fail("cancelled");
  return std::move(builder).finish();
}

}  // namespace draftscope::gui
