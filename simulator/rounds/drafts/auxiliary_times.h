// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded times of auxiliary passes (scenario.h), and of the host outside them.
//
// An optimise phase takes the time of its passes, so the ratio of both belongs to a kind. Where a phase says
// that it also fitted a model (SWIFT's Gaussian process), its additional time counts as the host's. The
// remaining time of a request from its first token to its end also counts as the host's: deciding, recording.
// It excludes drafts, verifications, auxiliary passes, the parts that prices of rounds cover, and waits,
// since other machines have no such waits.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/round_notes.h"

namespace draftscope::simulator {

/// Host time of a recorded run outside its passes and outside the prices of its rounds.
struct HostOfRun {
  traces::RunId run_id;
  std::string strategy;       ///< Name of the strategy.
  double ns_per_round = 0.0;  ///< Negative if it is less than for other runs' rounds.
};

struct AuxiliaryTimes {
  std::vector<MeasuredAuxiliaryPass> passes;
  std::vector<HostOfRun> hosts;  ///< Runs that draft, in order of `runs`.
};

/// Rules of a run's auxiliary passes, from its specification or, if that names a policy file, from the
/// parameters of the policy. Absent for a strategy without any, or an unknown strategy.
[[nodiscard]] std::optional<AuxiliaryWork> auxiliary_work_of(const traces::Run& run, const ModelShape& shape);

/// Shape of the model that drafts in a run of two models; absent where the recording does not have it.
[[nodiscard]] std::optional<ModelShape> draft_model_of(const traces::Run& run, const traces::Meta& meta);

/// Adds the request's auxiliary passes to `counts`, by the rules of its strategy and by which of its rounds
/// spent time on them. `is_first` is as in AuxiliaryWork::after_prefill().
void count_auxiliary_work(const RequestRows& request, bool is_first, const AuxiliaryWork& work,
                          AuxiliaryPasses& passes, std::vector<PassCount>& counts);

/// Whether a run's request is the first of its repeat, since strategies start again with each repeat.
[[nodiscard]] bool is_first_of_repeat(const RunRows& run, std::size_t request);

/// Adds the draft steps of a run whose strategy drafts with another model, of this shape, or with the
/// target's next-token layer, and their reads of earlier text.
void count_draft_steps_beside(const traces::Run& run, const RequestRows& request, const ModelShape& shape,
                              AuxiliaryPasses& passes, std::vector<PassCount>& counts);

/// Adds the host time of the run `like`, beyond that of other runs' rounds, to every round of the statistics.
void add_host_time(std::span<const HostOfRun> hosts, traces::RunId like, StrategyRounds& rounds);

/// `model` and `staged` must belong to the recording that `runs` come from. Errors: unreadable decisions, a
/// model that does not price its own recording.
[[nodiscard]] Result<AuxiliaryTimes> auxiliary_times(traces::Reader& reader,
                                                     const traces::Recording& recording,
                                                     std::span<const RunRows> runs, const CostModel& model,
                                                     const StagedPasses& staged);

}  // namespace draftscope::simulator
