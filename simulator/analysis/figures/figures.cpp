// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/figures/request_rows.h"
#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

std::int64_t& entry(Breakdown& breakdown, traces::Phase phase) {
  return breakdown[static_cast<std::size_t>(phase)];
}

RunBreakdown breakdown_from_spans(const RunRows& run) {
  RunBreakdown result{BreakdownSource::spans, {}};
  for (const RequestRows& rows : run.requests) {
    const Breakdown one = phase_breakdown(rows.phase_spans, rows.request->start_ns, rows.request->end_ns);
    for (std::size_t phase = 0; phase < one.size(); ++phase) result.by_phase[phase] += one[phase];
  }
  return result;
}

/// Computes the breakdown. Idle is the remainder, so the sum is exact; a negative one shows that the rows
/// contradict each other.
RunBreakdown breakdown_from_rounds(const RunRows& run) {
  RunBreakdown result{BreakdownSource::rounds, {}};
  for (const RequestRows& rows : run.requests) {
    const traces::Request& request = *rows.request;
    Breakdown one{};
    if (request.first_token_ns > 0)
      entry(one, traces::Phase::prefill) = request.first_token_ns - request.start_ns;
    const traces::RequestSum sum = sum_of_rounds(rows);
    entry(one, traces::Phase::draft) = sum.draft_ns;
    entry(one, traces::Phase::verify) = sum.verify_ns;
    entry(one, traces::Phase::accept) = sum.accept_ns;
    entry(one, traces::Phase::optimise) = sum.optimise_ns;
    entry(one, traces::Phase::control) = sum.control_ns;
    std::int64_t idle_ns = request.end_ns - request.start_ns;
    for (const std::int64_t phase_ns : one) idle_ns -= phase_ns;
    if (idle_ns < 0) return {};
    entry(one, traces::Phase::idle) = idle_ns;
    for (std::size_t phase = 0; phase < one.size(); ++phase) result.by_phase[phase] += one[phase];
  }
  return result;
}

RunBreakdown run_breakdown(const RunRows& run) {
  if (run.requests.empty()) return {};
  const bool has_spans = std::all_of(run.requests.begin(), run.requests.end(),
                                     [](const RequestRows& rows) { return !rows.phase_spans.empty(); });
  return has_spans ? breakdown_from_spans(run) : breakdown_from_rounds(run);
}

Figures figures_of(const RunRows& run, const RunRows* baseline, const traces::Recording& recording,
                   std::span<const DeviceInterval> device_intervals) {
  Figures figures;
  figures.run = run.run;
  figures.throughput = throughput(run);
  figures.acceptance = acceptance(run);
  figures.layers = loaded_layers(run, recording);
  figures.cost = draft_cost(run, baseline, figures.acceptance);
  figures.breakdown = run_breakdown(run);
  figures.device = device_time(run, device_intervals);
  figures.memory = run_memory(recording.meta, run.run->id);
  if (baseline != nullptr && baseline->run != run.run) {
    const Pairing pairing = pair_requests(Baseline(*baseline), Comparison(run));
    figures.speedup = speedup(pairing);
    figures.identity = output_identity(pairing);
  }
  return figures;
}

/// Whether no shown figure can overflow, whatever a damaged file claims.
bool is_plausible(const traces::RequestSum& sum) {
  constexpr std::int64_t max_count = std::int64_t{1} << 40U;
  constexpr std::int64_t max_ns = std::int64_t{1} << 46U;
  const auto counts = {sum.rounds,  sum.drafted,     sum.accepted,
                       sum.emitted, sum.draft_steps, sum.draft_sublayers};
  const auto times = {sum.rounds_ns, sum.draft_ns,    sum.verify_ns,
                      sum.accept_ns, sum.optimise_ns, sum.control_ns};
  return std::ranges::all_of(counts, [&](std::int64_t count) { return count >= 0 && count <= max_count; }) &&
         std::ranges::all_of(times, [&](std::int64_t ns) { return ns >= 0 && ns <= max_ns; });
}

/// A plausible size; absent for one that only a damaged file can have.
std::optional<std::int64_t> bytes_at(const nlohmann::json& sizes, std::string_view key) {
  constexpr std::int64_t max_bytes = std::int64_t{1} << 62;
  const auto found = sizes.find(key);
  if (found == sizes.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{max_bytes})
    return std::nullopt;
  const auto bytes = found->get<std::int64_t>();
  if (bytes < 0 || bytes > max_bytes) return std::nullopt;
  return bytes;
}

}  // namespace

RecordingFigures measure(const traces::Recording& recording, std::span<const traces::Span> phase_spans,
                         std::span<const DeviceInterval> device_intervals) {
  const std::vector<RunRows> runs = rows_by_run(recording, phase_spans);
  const RunRows* baseline_rows = baseline_of(runs);
  RecordingFigures result;
  if (baseline_rows != nullptr) result.baseline = baseline_rows->run;
  for (const RunRows& run : runs) {
    RunFigures figures{figures_of(run, baseline_rows, recording, device_intervals), {}};
    for (const std::string& category : categories(run)) {
      const RunRows part = only_category(run, category);
      RunRows baseline_part;
      if (baseline_rows != nullptr) baseline_part = only_category(*baseline_rows, category);
      figures.by_category.push_back(
          figures_of(part, baseline_rows != nullptr ? &baseline_part : nullptr, recording, device_intervals));
      figures.by_category.back().category = category;
    }
    result.runs.push_back(std::move(figures));
  }
  return result;
}

RecordingFigures measure_overview(const traces::Recording& outline,
                                  std::span<const traces::RequestSum> stored) {
  static const traces::RequestSum none;
  std::unordered_map<traces::RequestId, const traces::RequestSum*> sums;
  for (const traces::RequestSum& sum : stored)
    if (is_plausible(sum)) sums.emplace(sum.request_id, &sum);
  std::vector<RunRows> runs = finished_requests(outline);
  for (RunRows& run : runs)
    for (RequestRows& rows : run.requests) {
      const auto found = sums.find(rows.request->id);
      rows.stored = found == sums.end() ? &none : found->second;
    }
  const RunRows* baseline = baseline_of(runs);
  RecordingFigures result;
  if (baseline != nullptr) result.baseline = baseline->run;
  for (const RunRows& run : runs) result.runs.push_back({figures_of(run, baseline, outline, {}), {}});
  return result;
}

std::optional<std::int64_t> RunMemory::other_bytes() const {
  if (!peak_bytes) return std::nullopt;
  // Subtracts one after another, since their sum could overflow.
  std::int64_t rest = *peak_bytes;
  for (const std::int64_t part : {weight_bytes, draft_weight_bytes, kv_bytes, workspace_bytes})
    rest = std::max<std::int64_t>(rest - part, 0);
  return rest;
}

std::optional<RunMemory> run_memory(const traces::Meta& meta, traces::RunId run) {
  const nlohmann::json runs = meta_object(meta, "run_memory");
  const auto sizes = runs.find(std::to_string(run.value()));
  if (sizes == runs.end() || !sizes->is_object()) return std::nullopt;
  const auto weights = bytes_at(*sizes, "weight_bytes");
  const auto draft_weights = bytes_at(*sizes, "draft_weight_bytes");
  const auto kv = bytes_at(*sizes, "kv_bytes");
  const auto workspace = bytes_at(*sizes, "workspace_bytes");
  if (!weights || !draft_weights || !kv || !workspace) return std::nullopt;
  RunMemory memory{bytes_at(*sizes, "peak_bytes"), *weights, *draft_weights, *kv, *workspace};
  if (memory.peak_bytes == 0) memory.peak_bytes.reset();
  return memory;
}

}  // namespace draftscope::simulator
