// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prices of passes on one machine, for one model, dtype and engine regime. They are derived from a cost model
// and are all that replays, oracle and advice need of it. Times are in nanoseconds, affine in the context
// (the K/V rows before the pass's first row; run_rows.h).

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct AffineTime {
  double ns = 0.0;
  double ns_per_context_row = 0.0;

  [[nodiscard]] double at(double context) const { return ns + ns_per_context_row * context; }
  [[nodiscard]] double of(const PassCount& passes) const {
    return static_cast<double>(passes.passes) * ns + static_cast<double>(passes.context) * ns_per_context_row;
  }
  AffineTime& operator*=(double factor) {
    ns *= factor;
    ns_per_context_row *= factor;
    return *this;
  }
  friend bool operator==(const AffineTime&, const AffineTime&) = default;
};

/// Prices of drafts with one exit layer (or one layer set).
struct DraftPrices {
  AffineTime step;                 ///< One draft step: the layers, the head, the choice of the token.
  std::vector<AffineTime> verify;  ///< [rows], from 2; elements 0 and 1 are unused
  /// Part of every element of `verify` that belongs to the draft: the additional time of a round's first
  /// step.
  double start_ns = 0.0;
  /// [row step]: ns by which a verification takes longer that was only planned for so many rows
  /// (DraftStatistics::planned_beyond).
  std::array<double, row_steps.size()> planned_ns{};

  friend bool operator==(const DraftPrices&, const DraftPrices&) = default;
};

struct Prices {
  AffineTime target_step;             ///< A round without a draft: one row through everything.
  std::vector<DraftPrices> drafts;    ///< [exit], element 0 unused
  double round_ns = 0.0;              ///< Accept, control and host time of a round with a draft.
  double step_round_ns = 0.0;         ///< Accept, control and host time of a round without a draft.
  std::vector<AffineTime> auxiliary;  ///< [auxiliary pass of the statistics]
  double host_ratio = 1.0;            ///< Factor of RoundStatistics::host_ns on this machine's host.

  friend bool operator==(const Prices&, const Prices&) = default;
};

/// Time that verifications take beyond their rows because they were planned for more.
[[nodiscard]] double planned_time_ns(const DraftStatistics& statistics, const DraftPrices& prices);

/// Time of the auxiliary passes and of the host outside rounds; part of time_ns().
[[nodiscard]] double auxiliary_time_ns(const RoundStatistics& statistics, const Prices& prices);

/// Time of all rounds, as a dot product. The prices must cover exits, widths and auxiliary passes of the
/// statistics.
[[nodiscard]] double time_ns(const RoundStatistics& statistics, const Prices& prices);

/// Checks that prices cover every exit, width and auxiliary pass of the statistics; the error names the first
/// that is missing.
[[nodiscard]] Result<void> check_covered(const RoundStatistics& statistics, const Prices& prices);

/// Time of vanilla decoding in these steps.
[[nodiscard]] double vanilla_time_ns(const PassCount& steps, const Prices& prices);

/// Time of the same tokens by vanilla decoding: one target step per token, with consecutive contexts from
/// `first_context` on.
[[nodiscard]] double vanilla_time_ns(std::int64_t tokens, std::int64_t first_context, const Prices& prices);

// Uncertainty of predicted speedups, as random draws of prices. One draw applies to the speculative run and
// its vanilla baseline alike, so that common factors cancel.

/// Sources of price uncertainty that vary in a draw; the others stay at their means.
struct PriceSources {
  bool fit = true;       ///< Covariance of the fitted parameters.
  bool width = true;     ///< Growth of a verification with its rows.
  bool transfer = true;  ///< Transfer from the recorded machine to another one.
};

/// Prices of draw number `draw`. It must be a pure function that several threads may call at once. The same
/// number with other sources uses the same random numbers for the shared ones.
using PriceDraws = std::function<Prices(std::uint64_t draw, PriceSources vary)>;

/// One machine (and model, dtype, regime).
struct PricedMachine {
  std::string name;
  Prices prices;     ///< Prices at the means of their parameters.
  PriceDraws draws;  ///< Empty = prices are certain.
};

}  // namespace draftscope::simulator
