// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Input and output of the checks.

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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
  std::optional<double> cost;  ///< Cost per round, in its unit.
  /// Speedup over a fair baseline, for a finding about the unit; else the speedup without the cost, where
  /// vanilla decoding has that cost too.
  std::optional<double> speedup_instead;
  std::string_view without;  ///< Costs left out of `speedup_instead`, if more than the row's.
  std::vector<std::pair<std::string, std::string>> values;  ///< Values of the names in the row's sentence.
  std::vector<std::string> settings;  ///< Specifications that may help, for the simulator.
  bool wants_alternatives = false;    ///< Whether an entirely different strategy may help, too.
};

[[nodiscard]] inline Judgement unjudged(std::string reason) {
  return {.outcome = Judgement::Outcome::unjudged, .reason = std::move(reason)};
}

// Checks in order of the table. These judge whether the unit is fair:
[[nodiscard]] Judgement judge_slow_baseline(const Evidence& of);
[[nodiscard]] Judgement judge_slow_baseline_mean(const Evidence& of);
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
[[nodiscard]] std::optional<double> idle_device_ns(const DeviceTime& device);
[[nodiscard]] Judgement judge_deciding_dear(const Evidence& of);
[[nodiscard]] Judgement judge_narrow_pass_slow(const Evidence& of);
[[nodiscard]] Judgement judge_verification_dear(const Evidence& of);
[[nodiscard]] Judgement judge_time_outside_passes(const Evidence& of);
[[nodiscard]] Judgement judge_device_below_reading(const Evidence& of);
[[nodiscard]] Judgement judge_machine_busy(const Evidence& of);
[[nodiscard]] Judgement judge_repeats_differ(const Evidence& of);
[[nodiscard]] Judgement judge_batch_too_large(const Evidence& of);
/// Never judges a finding; explain() adds this row.
[[nodiscard]] Judgement judge_nothing_found(const Evidence& of);

// Settings close to a run's, as specifications; none where the strategy has no parameter for the change. The
// functions of Evidence are conditions of remedies (RemedyRow::can_take).

/// The run with drafts of at most `length` tokens.
[[nodiscard]] std::vector<std::string> with_length(const traces::Run& run, std::size_t length);

/// An early exit whose verification leaves out the layers that its draft has run; none if it already does so.
[[nodiscard]] std::vector<std::string> verified_above_exit(const traces::Run& run);

/// Whether the run guesses from earlier text, without a model.
[[nodiscard]] bool guesses_from_text(const traces::Run& run);

/// Whether this program decoded the run, so that its commands and strategies are at hand.
[[nodiscard]] bool is_own_run(const Evidence& of);
/// Whether the run used the threads of a processor.
[[nodiscard]] bool has_threads(const Evidence& of);
/// Whether halving the rows of verifications beyond the first would leave a row less.
[[nodiscard]] bool has_rows_to_spare(const Evidence& of);
/// Whether the run is an early exit that verifies all layers.
[[nodiscard]] bool can_verify_above_exit(const Evidence& of);
/// Whether a model drafts and no confidence ends the drafts; an own run must also be a mix of parts.
[[nodiscard]] bool can_stop_by_confidence(const Evidence& of);
/// Whether layers of the target draft, so that `draftscope tune` can search others.
[[nodiscard]] bool can_be_tuned(const Evidence& of);
/// Whether a search took time in any round.
[[nodiscard]] bool searches(const Evidence& of);
/// Whether a round would take as long as a vanilla step but for interruptions of both.
[[nodiscard]] bool is_slowed_by_interruptions(const Evidence& of);
/// The opposite.
[[nodiscard]] bool is_slow_by_itself(const Evidence& of);
/// Whether times within phases were recorded.
[[nodiscard]] bool records_within_phases(const Evidence& of);

// Numbers inside sentences, in ASCII; other numbers are in number_text.h.

/// "22 %", and "3.1 %" below ten.
[[nodiscard]] std::string share_text(double share);
/// "1.21", "31.4", "743".
[[nodiscard]] std::string amount_text(double amount);
/// "1.21 vanilla steps", "1.00 of its own verifications".
[[nodiscard]] std::string steps_text(double steps, RoundUnit unit);
/// "1 round", "12 rounds".
[[nodiscard]] std::string count_text(std::int64_t count, const std::string& noun);

/// Time of a round in vanilla steps, both without interruptions; absent where vanilla decoding's are not
/// known.
[[nodiscard]] std::optional<double> uninterrupted_takes(const Evidence& of);

/// For a check that needs a vanilla step: that there is no vanilla run, or that its step has no time.
[[nodiscard]] Judgement no_vanilla_step(const Evidence& of);

/// The figures must be those of the rows, without data that `meta` declares missing. A vanilla step is the
/// time per token of vanilla decoding that the measured decode speedup implies, so that yields / takes is
/// that speedup. Without first-token times it is DraftCost::target_step_ns, and a round its own time.
[[nodiscard]] RoundAccount round_account(const Figures& figures, const RunRows& rows,
                                         const traces::Meta& meta);

/// The opening sentences of a diagnosis, without its findings.
[[nodiscard]] std::string summary_of(const Diagnosis& diagnosis, const Figures& figures,
                                     const Figures* baseline, const traces::Meta& meta);

}  // namespace draftscope::simulator
