// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of the target's passes by their rows. A pass over more rows of as many layers does everything that a
// narrower one does. So if it takes less time, the narrower pass is slow: the baseline, if that is a vanilla
// step.

#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Passes of one run over equally many rows of equally many layers, enough for quartiles.
struct TimedPasses {
  const traces::Run* run = nullptr;
  std::int32_t rows = 0;
  std::int32_t first_layer = 0;  ///< Layers below it run only the last row: the exit of verify=above-exit.
  std::int64_t passes = 0;
  speculation::Spread ns;
  /// Time that a verification saves compared with a separate pass if the device gets it together with its
  /// draft.
  double launch_ns = 0.0;

  [[nodiscard]] double by_itself_ns() const { return ns.median + launch_ns; }
  /// Time to add to `ns` beside the other's, so that a launch is in both or in neither.
  [[nodiscard]] double launch_ns_beside(const TimedPasses& other) const;
};

/// Times of target passes of one recording.
struct TargetPasses {
  const RunRows* vanilla = nullptr;        ///< Null without a vanilla run.
  speculation::Spread step_ns;             ///< Vanilla passes over one row; no samples without a vanilla run.
  std::vector<TimedPasses> verifications;  ///< Those over two rows or more, of all runs.

  /// The verifications with the minimum median; null where there are none.
  [[nodiscard]] const TimedPasses* cheapest() const;
  /// The cheapest verification over more rows of as many layers, if it takes less time; null if none does.
  [[nodiscard]] const TimedPasses* cheaper_than(const TimedPasses& narrow) const;
  /// Whether the cheapest verification takes less than a step, by more than the spread of both and by more
  /// than repeats differ.
  [[nodiscard]] bool is_step_slow() const;
};

/// `vanilla` is null without such a run; `vanilla_device` is what the device did in it, without rounds where
/// that was not recorded. Kinds with too few passes for quartiles are left out. O(rounds · log rounds).
[[nodiscard]] TargetPasses target_passes(std::span<const RunRows> runs, const traces::Run* vanilla,
                                         const DeviceTime& vanilla_device, const traces::Meta& meta);

/// Mean time per round that would be saved if no pass over one row took longer than `limit_ns`.
[[nodiscard]] double excess_ns_per_round(const RunRows& run, double limit_ns);

}  // namespace draftscope::simulator
