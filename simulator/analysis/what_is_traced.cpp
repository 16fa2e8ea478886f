// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/what_is_traced.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace draftscope::simulator {

namespace {

/// A value of `device_trace`: traces of greater detail slow the rounds more.
struct TraceDetail {
  std::string_view mode;
  int detail = 0;
  std::string_view what_it_does;  ///< Subject of the sentence on its cost.
  std::string_view without;       ///< Words for the other recording, if that one has this mode.
};
constexpr std::array<TraceDetail, 5> trace_details{
    {{"", 0, "", "without a device trace"},
     {"launches", 1, "Tracing launches", "with launches traced"},
     {"graph", 1, "Tracing graphs", "with graphs traced whole"},
     {"operations", 2, "Timing every operation", ""},
     {"node", 2, "Tracing every kernel", ""}}};

/// Null for a mode that is not known.
const TraceDetail* detail_of(const traces::Meta& meta) {
  const std::string mode = meta_value(meta, "device_trace");
  const auto found = std::ranges::find(trace_details, std::string_view(mode), &TraceDetail::mode);
  return found == trace_details.end() ? nullptr : &*found;
}

bool is_one_experiment(const traces::Meta& a, const traces::Meta& b) {
  constexpr std::array<std::string_view, 8> keys{"model",   "checkpoint_hash", "tool_version", "processor",
                                                 "weights", "launches",        "hostname",     "level"};
  return is_gpu_recording(a) && is_gpu_recording(b) && std::ranges::all_of(keys, [&](std::string_view key) {
           return meta_value(a, std::string(key)) == meta_value(b, std::string(key));
         });
}

/// Time of rounds that both sides have.
struct SharedTime {
  double baseline_ns = 0.0;
  double comparison_ns = 0.0;
  std::size_t rounds = 0;
};

SharedTime shared_time(const RunRows& baseline, const RunRows& comparison) {
  std::unordered_map<const traces::Request*, std::span<const traces::Round>> rounds_of;
  for (const RunRows* run : {&baseline, &comparison})
    for (const RequestRows& rows : run->requests) rounds_of.emplace(rows.request, rows.rounds);
  SharedTime shared;
  for (const RequestPair& pair : pair_requests(Baseline(baseline), Comparison(comparison)).pairs) {
    const std::span<const traces::Round> first = rounds_of[pair.baseline];
    const std::span<const traces::Round> second = rounds_of[pair.comparison];
    for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      shared.baseline_ns += static_cast<double>(first[i].end_ns - first[i].start_ns);
      shared.comparison_ns += static_cast<double>(second[i].end_ns - second[i].start_ns);
      ++shared.rounds;
    }
  }
  return shared;
}

}  // namespace

std::string what_is_traced(const traces::Meta& meta) {
  if (meta_value(meta, "device_trace") != "node") return {};
  return "Every kernel was traced, which slows rounds: shares hold, speeds and gaps do not.";
}

std::string how_launched(const traces::Meta& meta) {
  const std::string launches = meta_value(meta, "launches");
  if (launches == "program") return "one kernel a pass or round";
  if (launches == "plain") return "one kernel an operation, without programmatic edges";
  const std::string mode = meta_value(meta, "device_trace");
  return mode == "graph" || mode == "node" ? "graphs, whose edges were not recorded" : std::string();
}

std::optional<TracingCost> tracing_cost(Baseline<traces::Recording> baseline,
                                        Comparison<traces::Recording> comparison) {
  const traces::Recording& a = baseline.value;
  const traces::Recording& b = comparison.value;
  const TraceDetail* const of_a = detail_of(a.meta);
  const TraceDetail* const of_b = detail_of(b.meta);
  if (of_a == nullptr || of_b == nullptr || of_a->detail == of_b->detail ||
      !is_one_experiment(a.meta, b.meta))
    return std::nullopt;
  TracingCost cost{.is_of_comparison = of_b->detail > of_a->detail};
  const std::vector<RunRows> others = rows_by_run(b);
  double finer_ns = 0.0;
  double coarser_ns = 0.0;
  for (const RunRows& run : rows_by_run(a)) {
    const auto other = std::ranges::find_if(
        others, [&](const RunRows& candidate) { return is_same_setting(*run.run, *candidate.run); });
    if (other == others.end()) continue;
    SharedTime shared = shared_time(run, *other);
    if (!(shared.baseline_ns > 0.0) || !(shared.comparison_ns > 0.0)) continue;
    if (!cost.is_of_comparison) std::swap(shared.baseline_ns, shared.comparison_ns);
    const double factor = shared.comparison_ns / shared.baseline_ns;
    cost.lowest = cost.runs == 0 ? factor : std::min(cost.lowest, factor);
    cost.highest = cost.runs == 0 ? factor : std::max(cost.highest, factor);
    finer_ns += shared.comparison_ns;
    coarser_ns += shared.baseline_ns;
    cost.rounds += shared.rounds;
    ++cost.runs;
  }
  if (cost.runs == 0) return std::nullopt;
  cost.factor = finer_ns / coarser_ns;
  const TraceDetail& finer = cost.is_of_comparison ? *of_b : *of_a;
  const TraceDetail& coarser = cost.is_of_comparison ? *of_a : *of_b;
  const std::string range =
      cost.runs > 1 ? fmt::format("; {:.2f} to {:.2f} in {} runs", cost.lowest, cost.highest, cost.runs)
                    : std::string();
  cost.sentence = fmt::format("{} made rounds {:.2f} times as long as {} ({} rounds of both{}){}.",
                              finer.what_it_does, cost.factor, coarser.without, cost.rounds, range,
                              a.meta.contains("launches") ? "" : ", if both were launched alike");
  return cost;
}

}  // namespace draftscope::simulator
