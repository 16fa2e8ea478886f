// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Synthetic requests similar to recorded ones: each has its acceptance, rounds that resemble the previous
// one, and log-normal lengths that grow with the acceptance.

#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/traces/reader.h>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::simulator {

inline constexpr std::int32_t synthetic_length = 4;  ///< Draft tokens per round.
inline constexpr std::int32_t synthetic_exit = 3;    ///< Exit layer, out of synthetic_layers.
inline constexpr std::int32_t synthetic_layers = 12;
inline constexpr std::int64_t synthetic_prompt = 50;  ///< Context of the first round.

/// Tokens of each round, with a 1.
[[nodiscard]] std::vector<ClusterSums> synthetic_rounds(std::mt19937_64& random);

[[nodiscard]] ClusterSums sum_of(const std::vector<ClusterSums>& rounds);

/// Passes of such rounds.
[[nodiscard]] RoundStatistics statistics_of(const std::vector<ClusterSums>& rounds);

/// Vanilla decoding of `count` requests and one setting's statistics of them.
struct SyntheticText {
  std::vector<PassCount> vanilla;
  SettingRounds setting;
};
[[nodiscard]] SyntheticText synthetic_text(std::size_t count, std::uint64_t seed);

[[nodiscard]] Prices synthetic_prices();

/// Standard deviations of the logarithm, for prices without a fitted covariance.
struct PriceSpread {
  double fit = 0.0;    ///< Independent noise of the target step, draft steps and verifications of two rows.
  double width = 0.0;  ///< Noise of a verification's surplus over two rows, one factor for all.
  double transfer = 0.0;  ///< Noise of all context slopes by one factor, of round times by another.
  double common = 0.0;    ///< Noise of all times by one factor; it counts as transfer.
};

/// Log-normal draws with `prices` as their medians.
[[nodiscard]] PriceDraws spread_prices(Prices prices, const PriceSpread& spread, std::uint64_t seed);

/// A round that starts at `root`, the position of the last token known.
struct SyntheticRound {
  std::int32_t root = 0;
  std::int32_t drafted = 0;
  std::int32_t accepted = 0;
};

/// Records requests with known rounds, one after the other, at given prices with noise.
class SyntheticRecorder {
 public:
  /// `noise` is the standard deviation of the logarithm of each time.
  SyntheticRecorder(std::uint64_t seed, Prices prices, double noise);

  /// Adds vanilla and an early exit of synthetic_exit with each of these lengths, as run 1, 2, ….
  void add_runs(std::span<const std::int32_t> lengths);
  void add_prompt(const std::string& category);
  /// Adds a request of a run and a prompt, which are indices; all its times are multiplied by `hour`.
  void decode(std::size_t run, std::size_t prompt, int repeat, std::span<const SyntheticRound> rounds,
              double hour = 1.0);

  [[nodiscard]] std::mt19937_64& random() { return random_; }
  [[nodiscard]] double normal() { return normal_(random_); }
  [[nodiscard]] traces::Recording take() { return std::move(out_); }

 private:
  void add(traces::RequestId request_id, std::int32_t index, const SyntheticRound& made, double hour);
  std::int64_t noisy(double ns) { return std::llround(ns * std::exp(noise_ * normal())); }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  Prices prices_;
  double noise_;
  traces::Recording out_;
  std::int64_t now_ = 1'000'000'000;
};

/// Speedup of far more requests than a recording has, at synthetic_prices().
[[nodiscard]] double synthetic_speedup();

/// How many intervals hold the truth.
struct Coverage {
  int trials = 0;
  int of_80 = 0;
  int of_95 = 0;

  void count(const RatioEstimate& estimate, double truth);
  /// Whether 93 to 97 % of the trials do, and of the narrower intervals 80 %, give or take `of_80_tolerance`.
  [[nodiscard]] bool is_as_promised(double of_80_tolerance = 0.03) const;
  [[nodiscard]] std::string shares() const;
};

}  // namespace draftscope::simulator
