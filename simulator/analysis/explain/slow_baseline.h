// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks whether the vanilla run is a fair baseline. A pass over several rows does everything that a pass
// over one row does. So if a verification takes less than a vanilla step, the engine's one-row pass is slow.

#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <optional>
#include <span>

namespace draftscope::simulator {

/// Verifications of one run with equal numbers of rows, at least two.
struct CheapestVerification {
  const traces::Run* run = nullptr;
  std::int32_t rows = 0;
  speculation::Spread ns;
  /// Time that a verification saves compared with a separate pass if the device gets it together with its
  /// draft.
  double launch_ns = 0.0;

  [[nodiscard]] double by_itself_ns() const { return ns.median + launch_ns; }
};

/// Times of target passes of one recording.
struct TargetPasses {
  const RunRows* vanilla = nullptr;  ///< Null without a vanilla run.
  speculation::Spread step_ns;       ///< Vanilla passes over one row; no samples without a vanilla run.
  /// The minimum median over all runs; absent where no run has enough verifications with equal numbers of
  /// rows.
  std::optional<CheapestVerification> cheapest;

  /// Whether the cheapest verification takes less than a step, by more than the spread of both and by more
  /// than repeats differ.
  [[nodiscard]] bool is_step_slow() const;
};

/// `vanilla` is null without such a run. Kinds with too few passes for quartiles are left out. O(rounds · log
/// rounds).
[[nodiscard]] TargetPasses target_passes(std::span<const RunRows> runs, const Figures* vanilla,
                                         const traces::Meta& meta);

/// Mean time per round that would be saved if no pass over one row took longer than `limit_ns`.
[[nodiscard]] double excess_ns_per_round(const RunRows& run, double limit_ns);

}  // namespace draftscope::simulator
