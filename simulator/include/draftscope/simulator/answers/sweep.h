// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Speedups of many settings on many machines over vanilla decoding of the same text, with intervals.
//
// Settings are replayed once, per request (run_rows.h); everything else is sums of products. A draw samples
// requests with replacement, the same ones for all settings and targets. It uses the target's price draw of
// the same number for baseline and speculation. Answers can therefore be compared draw by draw, and are the
// same bits for any number of threads.
//
// The intervals are percentiles, widened for few requests by Student's t and √(n / (n − 1)) (Hesterberg 2015,
// §6) as far as the spread comes from the requests. With very unequal lengths and fewer than 60 requests they
// cover 1 to 3 points less than nominal; predict_speedup() (prediction.h) is slower and more accurate there.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Standard deviations of the logarithm, for prices without a fitted covariance.
struct PriceSpread {
  double fit = 0.0;    ///< Independent noise of the target step, draft steps and verifications of two rows.
  double width = 0.0;  ///< Noise of a verification's surplus over two rows, one factor for all.
  double transfer = 0.0;  ///< Noise of all context slopes by one factor, of round times by another.
  double common = 0.0;    ///< Noise of all times by one factor; it counts as transfer.
};

/// Log-normal draws with `prices` as their medians.
[[nodiscard]] PriceDraws spread_prices(Prices prices, const PriceSpread& spread, std::uint64_t seed);

/// Spread between kinds of texts, which widens an answer about a kind that was not recorded, or about a run
/// of which a file only states a rate.
struct TextSpread {
  double sigma = 0.0;     ///< Standard deviation of a kind's ln(speedup).
  double freedom = 0.0;   ///< Degrees of freedom of `sigma`.
  std::size_t kinds = 1;  ///< Number of recorded kinds, whose mean the answer is.
  /// Standard error of a stated rate's ln(speedup); the interval is then of it and the spread, since there
  /// are no requests to resample. 0 where rounds are known.
  double stated_error = 0.0;
};

struct SweepOptions {
  std::int32_t draws = 1000;
  std::uint64_t seed = 20240301;
  std::int32_t threads = 0;  ///< 0 = as many as the machine runs at once.
  /// Set if the question is about texts of another kind or a stated rate. It widens the intervals of
  /// prediction.h; sweep() ignores it.
  std::optional<TextSpread> other_texts;
};

struct SweepAnswer {
  AnswerStatus status = AnswerStatus::invalid;  ///< Status of the rounds; all numbers below are 0 if invalid.
  double speedup = 0.0;       ///< Sum of vanilla times / sum of times; with the fewest draft tokens.
  double min_speedup = 0.0;   ///< Speedup with the most draft tokens.
  double request_mean = 0.0;  ///< Mean over requests of their speedups, with the fewest draft tokens.
  /// Intervals of `speedup`; if bounded, from the slower bound's lower end to the faster one's upper end. Two
  /// cases of approximate rounds add half their distance to other errors by squares; answer.h takes the
  /// outermost ends for strategies that decide by times.
  std::optional<Interval> interval_80, interval_95;
};

struct SweepTable {
  std::size_t settings = 0;
  std::size_t targets = 0;
  std::size_t requests = 0;  ///< Number of requests that emitted tokens in rounds; others are left out.
  std::vector<SweepAnswer> answers;
  std::string no_interval_reason;  ///< One line; empty if there are intervals.

  [[nodiscard]] const SweepAnswer& at(std::size_t setting, std::size_t target) const {
    return answers[target * settings + setting];
  }
};

/// `vanilla` is [request], in the order of each setting's statistics. Errors: statistics that differ in their
/// requests, prices that don't cover a setting's exits and widths, a time that is not positive, draws outside
/// [200, 100,000]. Memory: draws · (pass kinds of all settings) · 16 bytes, at most 8 GiB.
[[nodiscard]] Result<SweepTable> sweep(std::span<const PassCount> vanilla,
                                       std::span<const SweepSetting> settings,
                                       std::span<const SweepTarget> targets,
                                       const SweepOptions& options = {});

}  // namespace draftscope::simulator
