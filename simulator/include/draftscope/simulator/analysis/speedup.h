// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Speedup of one run over another on the same prompts, with its spread.
//
// The value. If both sides gave equally many tokens on every pair (always so when decoding is greedy and
// lossless), it is total wall time of the baseline / total wall time of the comparison. That is the ratio of
// their tokens per second. If lengths differ (sampling), it is the geometric mean over prompts of the ratio
// of tokens per second, because a total would weight prompts by the length of their answers.
//
// The spread. By repeat: the value computed from each repeat separately. By prompt: the 95 % percentile
// bootstrap interval from resampling prompts with replacement (all repeats of a prompt stay together; fixed
// seed). Significance: Wilcoxon's signed-rank test over the prompts' log ratios, two-sided.

#include <draftscope/simulator/analysis/run_rows.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

// Pairing of requests of two runs. Two runs are only compared on requests that both decoded.

// The two sides of a comparison have different types, so that they can't be swapped by mistake.
template <typename T>
struct Baseline {
  explicit Baseline(const T& side) : value(side) {}
  explicit Baseline(const T&&) = delete;  // The reference would dangle.
  const T& value;
};
template <typename T>
struct Comparison {
  explicit Comparison(const T& side) : value(side) {}
  explicit Comparison(const T&&) = delete;
  const T& value;
};

struct RequestPair {
  const traces::Request* baseline = nullptr;
  const traces::Request* comparison = nullptr;
  std::size_t prompt_index = 0;  ///< Index among the paired prompts.
  KnownOfRequest known;          ///< Data that both requests have.
};

struct Pairing {
  std::vector<RequestPair> pairs;  ///< Ordered by prompt, then repeat.
  std::size_t prompts = 0;
  std::size_t unpaired = 0;  ///< Number of requests of either side without a partner.
};

/// Pairs requests by (prompt text, repeat). A text that occurs in several prompts of a recording is matched
/// by order of occurrence, so prompt ids may differ between recordings.
[[nodiscard]] Pairing pair_requests(Baseline<RunRows> baseline, Comparison<RunRows> comparison);

/// This part compares output tokens. Greedy decoding of one model must give the same tokens.
struct OutputDifference {
  std::size_t pair = 0;      ///< Index into Pairing::pairs.
  std::size_t position = 0;  ///< The first output token that differs.
};

struct OutputIdentity {
  std::size_t compared_requests = 0;
  std::size_t compared_prompts = 0;
  std::size_t differing_prompts = 0;
  std::vector<OutputDifference> differences;
};

/// Absent without pairs, and where token ids of a pair are unknown.
[[nodiscard]] std::optional<OutputIdentity> output_identity(const Pairing& pairing);

/// Minimum number of prompts for an interval. With fewer, the percentiles would be the extremes, and the
/// smallest p value that a signed-rank test can reach is above 0.05.
inline constexpr std::size_t min_prompts_for_interval = 6;

enum class SpeedupEstimator : std::uint8_t { total_wall_time, prompt_mean };

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

struct Speedup {
  SpeedupEstimator estimator = SpeedupEstimator::total_wall_time;
  double value = 1.0;
  std::size_t prompts = 0;
  std::size_t pairs = 0;
  std::size_t unpaired = 0;

  std::vector<double> by_repeat;  ///< [repeat]
  double repeat_median = 1.0;
  double repeat_minimum = 1.0;
  double repeat_maximum = 1.0;

  std::optional<Interval> interval;  ///< 95 % interval over prompts.
  std::optional<double> p_value;     ///< p value of equal speed, over prompts.
  /// Speedup from first token to end, without the prefill; absent if a side has one-token answers only, or if
  /// its first token times are unknown.
  std::optional<double> decode_value;
  std::optional<Interval> decode_interval;  ///< 95 % interval of `decode_value`, over its prompts.
};

/// Computes the speedup; absent if no pair has tokens and a known time on both sides.
[[nodiscard]] std::optional<Speedup> speedup(const Pairing& pairing);

}  // namespace draftscope::simulator
