// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Costs of passes on one machine, for one model, dtype and engine regime: what a cost model says, and all
// that replays, oracle and advice need to know of it. Times in nanoseconds, affine in the context (the K/V
// rows before the pass's first row; run_rows.h).

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
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
  friend bool operator==(const AffineTime&, const AffineTime&) = default;
};

/// Prices of drafts of one exit layer (or one layer set).
struct DraftPrices {
  AffineTime step;                 ///< one draft step: the layers, the head, the choice of the token
  std::vector<AffineTime> verify;  ///< [rows], from 2; element 0 and 1 are unused

  friend bool operator==(const DraftPrices&, const DraftPrices&) = default;
};

struct Prices {
  AffineTime target_step;             ///< a round without a draft: one row through everything
  std::vector<DraftPrices> drafts;    ///< [exit], element 0 unused
  double round_ns = 0.0;              ///< accept, control and host time of a round with a draft
  double step_round_ns = 0.0;         ///< the same of a round without one
  std::vector<AffineTime> auxiliary;  ///< [auxiliary pass of the statistics]
  double host_ratio = 1.0;            ///< of RoundStatistics::host_ns, on this machine's host

  friend bool operator==(const Prices&, const Prices&) = default;
};

/// Time of the auxiliary passes and of the host beside rounds; part of time_ns().
[[nodiscard]] double auxiliary_time_ns(const RoundStatistics& statistics, const Prices& prices);

/// Time of all rounds: a dot product. Expects that prices cover exits, widths and auxiliary passes of the
/// statistics.
[[nodiscard]] double time_ns(const RoundStatistics& statistics, const Prices& prices);

/// Whether prices cover every exit, width and auxiliary pass of the statistics; the error names the first
/// that is missing.
[[nodiscard]] Result<void> check_covered(const RoundStatistics& statistics, const Prices& prices);

/// Time of the same tokens by vanilla decoding: one target step a token, contexts one after the other from
/// `first_context` on.
[[nodiscard]] double vanilla_time_ns(std::int64_t tokens, std::int64_t first_context, const Prices& prices);

// What makes a predicted speedup uncertain, and how draws of prices come to it. One draw of prices holds for
// the speculative run and its vanilla baseline alike, so that what is common to both cancels.

/// Which of the prices' sources vary in a draw; those that don't stay at their means.
struct PriceSources {
  bool fit = true;       ///< the fitted parameters' covariance
  bool width = true;     ///< how much a verification grows with its rows
  bool transfer = true;  ///< from the recorded machine to another one
};

/// The prices of draw number `draw`: a pure function of its arguments that may be called by several threads
/// at once. The same number with other sources uses the same random numbers for those they share.
using PriceDraws = std::function<Prices(std::uint64_t draw, PriceSources vary)>;

/// One machine (and model, dtype, regime).
struct SweepTarget {
  std::string name;
  Prices prices;     ///< at the means of their parameters
  PriceDraws draws;  ///< empty: prices are taken as certain
};

}  // namespace draftscope::simulator
