// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Input and output of the checks.

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explain/slow_baseline.h"

namespace draftscope::simulator {

struct Evidence {
  const Figures& figures;
  const Figures* baseline = nullptr;  ///< Null without a vanilla run.
  const RunRows& rows;
  const traces::Meta& meta;
  const RoundAccount& round;
  const TargetPasses& passes;  ///< Passes of the whole recording.
  /// Times of the run's verifications; null where a device did not time its operations.
  const TimeOfOperations* verification = nullptr;
  bool on_device = false;
};

struct Judgement {
  enum class Outcome : std::uint8_t { absent, found, unjudged };
  Outcome outcome = Outcome::absent;
  std::string reason;  ///< Reason why it is not judged.
  double figure = 0.0;
  double threshold = 0.0;
  std::optional<double> cost;             ///< Cost per round, in its unit.
  std::optional<double> speedup_instead;  ///< Speedup over a fair baseline, for a finding about the unit.
  std::vector<std::pair<std::string, std::string>> values;  ///< Values of the names in the row's sentence.
  std::vector<std::string> settings;  ///< Specifications that may help, for the simulator.
  bool wants_alternatives = false;    ///< Whether an entirely different strategy may help, too.
};

[[nodiscard]] inline Judgement unjudged(std::string reason) {
  return {.outcome = Judgement::Outcome::unjudged, .reason = std::move(reason)};
}

// Checks in order of the table. These judge whether the unit is fair:
[[nodiscard]] Judgement judge_slow_baseline(const Evidence& of);
// This one judges whether a draft step can pay at all:
[[nodiscard]] Judgement judge_draft_step_dear(const Evidence& of);
// These judge drafts:
[[nodiscard]] Judgement judge_nothing_drafted(const Evidence& of);
[[nodiscard]] Judgement judge_nothing_accepted(const Evidence& of);
[[nodiscard]] Judgement judge_draft_too_long(const Evidence& of);
[[nodiscard]] Judgement judge_tail_rejected(const Evidence& of);
[[nodiscard]] Judgement judge_too_few_accepted(const Evidence& of);
[[nodiscard]] Judgement judge_text_does_not_repeat(const Evidence& of);
// These judge where the time goes:
/// Time per round in which the device idles, in nanoseconds; absent where it was not recorded.
[[nodiscard]] std::optional<double> idle_device_ns(const Figures* figures);
[[nodiscard]] Judgement judge_deciding_dear(const Evidence& of);
[[nodiscard]] Judgement judge_narrow_pass_slow(const Evidence& of);
[[nodiscard]] Judgement judge_verification_dear(const Evidence& of);
[[nodiscard]] Judgement judge_time_outside_passes(const Evidence& of);
[[nodiscard]] Judgement judge_device_below_reading(const Evidence& of);
[[nodiscard]] Judgement judge_machine_busy(const Evidence& of);
[[nodiscard]] Judgement judge_repeats_differ(const Evidence& of);
[[nodiscard]] Judgement judge_batch_too_large(const Evidence& of);
/// Never judges a finding; explain() adds this row.
[[nodiscard]] Judgement judge_nothing_wrong(const Evidence& of);

}  // namespace draftscope::simulator
