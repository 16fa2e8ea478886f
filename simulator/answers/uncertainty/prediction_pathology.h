// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Requests that decide a total without being what anybody wants: repetition loops, whose tokens are easily
// drafted, and runaways many times as long as the others. On two public data sets the longest 1 % of the
// requests hold 11 and 28 % of all tokens.

#include <draftscope/simulator/answers/prediction.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Tokens at the end of a text that repeat with one period.
struct RepetitionLoop {
  std::size_t tokens = 0;  ///< from the loop's first pass to the end; 0 without a loop
  std::size_t period = 0;
};

/// The longest such end with a period of at most 64 tokens that is passed at least four times and is at least
/// 32 tokens long. O(64 · tokens).
[[nodiscard]] RepetitionLoop repetition_loop(std::span<const std::int32_t> tokens);

/// A loop that is at least a quarter of the text makes a request degenerate.
inline constexpr double degenerate_loop_share = 0.25;
/// A request of this many times the median length is a runaway.
inline constexpr double runaway_lengths = 8.0;
/// Share of all tokens, held by the longest 1 % of the requests: the total is theirs.
inline constexpr double suspicious_top_share = 0.1;

struct Pathology {
  std::vector<std::size_t> loops;     ///< indices of requests, ascending
  std::vector<std::size_t> runaways;  ///< the same; may overlap
  double top_share = 0.0;  ///< share of tokens in the longest 1 % of the requests, rounded up to whole ones
  double degenerate_share = 0.0;  ///< share of tokens in loops and runaways
  bool is_flagged = false;  ///< either share is above suspicious_top_share (the first from 100 requests on)
};

/// Pathology of the output tokens of each request. O(64 · tokens).
[[nodiscard]] Pathology find_pathology(std::span<const std::vector<std::int32_t>> outputs);

/// Indices in `loops` or `runaways`, ascending.
[[nodiscard]] std::vector<std::size_t> degenerate_requests(const Pathology& pathology);

/// The same with and without requests that loop or run away. `without` is absent if there is none such, or
/// no other.
struct PredictionByPathology {
  PredictedSpeedup with;
  std::optional<PredictedSpeedup> without;
};
[[nodiscard]] Result<PredictionByPathology> predict_with_and_without(std::span<const PassCount> vanilla,
                                                                     const SweepSetting& setting,
                                                                     const SweepTarget& target,
                                                                     const Pathology& pathology,
                                                                     const SweepOptions& options = {});

}  // namespace draftscope::simulator
