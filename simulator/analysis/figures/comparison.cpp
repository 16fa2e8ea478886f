// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <set>
#include <string_view>

namespace draftscope::simulator {

namespace {

template <std::size_t count>
bool is_any_of(std::string_view key, const std::array<std::string_view, count>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Whether the key differs between any two recordings, whatever their content.
bool is_volatile(std::string_view key) {
  static constexpr std::array<std::string_view, 3> keys{"closed_cleanly", "command_line", "rank"};
  return is_any_of(key, keys) || key.starts_with("clock_") || key.starts_with("dropped_");
}

bool changes_experiment(std::string_view key) {
  static constexpr std::array<std::string_view, 29> keys{"tool_version",
                                                         "model",
                                                         "model_shape",
                                                         "checkpoint_hash",
                                                         "weight_bytes",
                                                         "bytes_a_step",
                                                         "synthetic",
                                                         "redundancy",
                                                         "dtype",
                                                         "device",
                                                         "processor",
                                                         "kernels",
                                                         "launches",
                                                         "threads",
                                                         "kv_bytes",
                                                         "seed",
                                                         "temperature",
                                                         "top_k",
                                                         "top_p",
                                                         "max_tokens",
                                                         "level",
                                                         "hostname",
                                                         "weights",
                                                         "stop_strings",
                                                         "repetition_penalty",
                                                         "min_p",
                                                         "frequency_penalty",
                                                         "presence_penalty",
                                                         "logit_bias"};
  return is_any_of(key, keys);
}

RunComparison compare_pair(const RunRows& baseline, const RunRows& comparison) {
  const Pairing pairing = pair_requests(Baseline(baseline), Comparison(comparison));
  return {.baseline = baseline.run,
          .comparison = comparison.run,
          .prompts = pairing.prompts,
          .ratio = speedup(pairing),
          .adjusted_p_value = {},
          .identity = output_identity(pairing)};
}

/// Corrects over all comparisons that have a p value.
void adjust(std::vector<RunComparison>& comparisons) {
  std::vector<double> p_values;
  std::vector<RunComparison*> tested;
  for (RunComparison& comparison : comparisons) {
    if (!comparison.ratio || !comparison.ratio->p_value) continue;
    p_values.push_back(*comparison.ratio->p_value);
    tested.push_back(&comparison);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->adjusted_p_value = adjusted[i];
}

}  // namespace

bool is_same_setting(const traces::Run& a, const traces::Run& b) {
  return a.specification == b.specification ||
         (!a.parameters.empty() && a.strategy == b.strategy && a.parameters == b.parameters);
}

std::vector<MetaDifference> meta_differences(Baseline<traces::Meta> baseline,
                                             Comparison<traces::Meta> comparison) {
  std::set<std::string> keys;
  for (const auto& [key, value] : baseline.value) keys.insert(key);
  for (const auto& [key, value] : comparison.value) keys.insert(key);
  std::vector<MetaDifference> differences;
  for (const std::string& key : keys) {
    MetaDifference difference{key, meta_value(baseline.value, key), meta_value(comparison.value, key),
                              changes_experiment(key)};
    if (is_volatile(key) || difference.baseline == difference.comparison) continue;
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<RunComparison> compare_runs(Baseline<std::vector<RunRows>> baseline,
                                        Comparison<std::vector<RunRows>> comparison) {
  std::vector<RunComparison> comparisons;
  if (baseline.value.size() == 1 && comparison.value.size() == 1) {
    comparisons.push_back(compare_pair(baseline.value.front(), comparison.value.front()));
  } else {
    for (const RunRows& one : baseline.value) {
      const auto other =
          std::find_if(comparison.value.begin(), comparison.value.end(),
                       [&](const RunRows& candidate) { return is_same_setting(*candidate.run, *one.run); });
      if (other != comparison.value.end()) comparisons.push_back(compare_pair(one, *other));
    }
  }
  adjust(comparisons);
  return comparisons;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace draftscope::simulator
