// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How much faster one run is than another on the same prompts, with its spread.
//
// The value. If both sides gave equally many tokens on every pair (always so when decoding is greedy and
// lossless): total wall time of the baseline / total wall time of the comparison, which is the ratio of their
// tokens a second. If lengths differ (sampling): the geometric mean over prompts of the ratio of tokens a
// second, because a total would weigh prompts by how long their answers happened to be.
//
// The spread. By repeat: the same value from each repeat alone. By prompt: the 95 % percentile bootstrap
// interval from resampling prompts with replacement (all repeats of a prompt move together; fixed seed). The
// question whether a difference is real: Wilcoxon's signed-rank test over the prompts' log ratios, two-sided.

#include <draftscope/simulator/analysis/run_rows.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

// Which request of one run answers to which of another. Two runs are only ever compared on what both decoded.

// The two sides of a comparison are different types, so that they can't be swapped by mistake.
template <typename T>
struct Baseline {
  explicit Baseline(const T& side) : value(side) {}
  explicit Baseline(const T&&) = delete;  // would dangle
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
  std::size_t prompt_index = 0;  ///< among the prompts that are paired
};

struct Pairing {
  std::vector<RequestPair> pairs;  ///< by prompt, then repeat
  std::size_t prompts = 0;
  std::size_t unpaired = 0;  ///< requests of either side without a partner
};

/// Pairs by (prompt text, repeat). A text that occurs in several prompts of a recording is matched by the
/// order of its occurrences, so prompt ids may differ between recordings.
[[nodiscard]] Pairing pair_requests(Baseline<RunRows> baseline, Comparison<RunRows> comparison);

/// Do both give the same tokens? Greedy decoding of one model must.
struct OutputDifference {
  std::size_t pair = 0;      ///< into Pairing::pairs
  std::size_t position = 0;  ///< first output token that differs
};

struct OutputIdentity {
  std::size_t compared_requests = 0;
  std::size_t compared_prompts = 0;
  std::size_t differing_prompts = 0;
  std::vector<OutputDifference> differences;
};

[[nodiscard]] OutputIdentity output_identity(const Pairing& pairing);

/// With fewer prompts no interval is given: the percentiles would only be the extremes, and the smallest p
/// value that a signed-rank test can reach is above 0.05.
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

  std::vector<double> by_repeat;  ///< one value a repeat, in the order of the repeats
  double repeat_median = 1.0;
  double repeat_minimum = 1.0;
  double repeat_maximum = 1.0;

  std::optional<Interval> interval;  ///< 95 % over prompts
  std::optional<double> p_value;     ///< that the two are equally fast, over prompts
  /// The same value from first token to end, prefill left out; absent if a side has one-token answers only.
  std::optional<double> decode_value;
  std::optional<Interval> decode_interval;  ///< 95 % of `decode_value`, over the prompts that it is of
};

/// Absent if no pair has tokens and time on both sides.
[[nodiscard]] std::optional<Speedup> speedup(const Pairing& pairing);

}  // namespace draftscope::simulator
