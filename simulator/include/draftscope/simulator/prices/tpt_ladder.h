// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The correction ladder explains why a speedup that is counted in layers differs from the measured one. It
// starts at L · eTPL of the rounds and adds one kind of cost after the other, in this order:
//
//   layer_count  time is loaded layers: steps · E + rounds · L against tokens · L (DEL)
//   layer_time   real time of layers: a draft's layers / the target's, which need not be E / L (sublayers of
//                unequal size, skipped attention or MLP, a regime in which launches count)
//   head         + the LM head, once per pass for any number of rows
//   choice       + the choice of the token: softmax, sampling, waiting for it; once per pass
//   width        + real time of a verification instead of one row's
//   context      + time that every pass adds for the K/V rows before it
//   overhead     + accept, control and host time of a round, and auxiliary passes
//   measured     the recorded run's own time, with what the prices do not explain; only where it was measured
//
// Rungs before the context are at context 0. The order is a convention: the joint cost of two corrections
// counts for the later one. The overhead's rung is time_true_speedup exactly, since nothing is left out. Up
// to it the result is modelled: as good as the prices. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

enum class Rung : std::uint8_t {
  layer_count,
  layer_time,
  head,
  choice,
  width,
  context,
  overhead,
  recorded_run
};

/// "layer count", "layer time", "head", "choice", "width", "context", "overhead", "recorded run".
[[nodiscard]] std::string_view rung_name(Rung rung);

/// The correction's meaning in a few words: "every pass reads the head".
[[nodiscard]] std::string_view rung_meaning(Rung rung);

struct LadderRung {
  Rung rung = Rung::layer_count;
  double speedup = 0.0;  ///< Speedup with all corrections up to this one.
  double change = 0.0;   ///< speedup − the previous one, or 0; changes add up to last − first
  double factor = 1.0;   ///< speedup / the previous one, or 1; factors multiply to last / first
  /// ln(factor) / ln(last / first): shares add up to 1. Negative where the correction helps. Absent where
  /// last and first are within a hundredth of one another, or where corrections cancel so far that one is
  /// more than twice the whole.
  std::optional<double> share;
};

/// Every rung in order; `recorded_run` only where LadderInput has its ratio.
using Ladder = std::vector<LadderRung>;

/// Parts of a pass's price, at context 0 and in nanoseconds, that are neither layers nor rows. They are
/// included in target_step.ns, every step.ns and every verify.ns. If 0, they count as layer_time.
struct PassParts {
  double head_ns = 0.0;
  double choice_ns = 0.0;
};

struct LayerCounts {
  std::int32_t model = 0;      ///< L
  std::vector<double> drafts;  ///< [exit], as Prices::drafts: layers that a step loads; empty = E for exit E
};

struct LadderInput {
  const RoundStatistics& statistics;
  PassCount vanilla;  ///< Target steps of vanilla decoding for the same tokens (vanilla_steps, summed).
  const Prices& prices;
  PassParts parts;
  LayerCounts layers;
  /// Measured time of the strategy relative to prices (StrategyRounds::own_ratio); absent where it was not
  /// measured.
  std::optional<double> own_ratio;
};

/// Speedup of the rounds of a replay or recording. `vanilla_ns` is the time of the same tokens by vanilla
/// decoding (vanilla_time_ns of each request, summed). Errors: a round that no price covers, times that are
/// not above 0.
[[nodiscard]] Result<double> time_true_speedup(const RoundStatistics& statistics, double vanilla_ns,
                                               const Prices& prices);

/// On every rung tokens are those that rounds emitted: eTPL counts no token that the end of the text cut.
/// Errors: no tokens, an exit or width without a price, layer counts outside (0, L]. Errors of counts and
/// parts: vanilla passes fewer than tokens or more than twice as many, parts that leave a target step no time
/// for layers or a draft step a negative time.
[[nodiscard]] Result<Ladder> correction_ladder(const LadderInput& input);

/// Head and choice together as estimated from the prices: the intercept of the least-squares line through
/// step times at context 0 by layers, the target step included. Exact where layers are equal. Absent with
/// fewer than two different layer counts; at least 0.
[[nodiscard]] std::optional<double> fixed_pass_ns(const Prices& prices, const LayerCounts& layers);

}  // namespace draftscope::simulator
