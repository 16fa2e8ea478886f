// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of auxiliary passes (scenario.h) as a recording shows them, and of the host beside them.
//
// An optimise phase took what its passes take: the ratio of both is a kind's. Where a phase says that it
// fitted a model beside its pass (SWIFT's Gaussian process), what it took beyond the others is the host's. So
// is what is left of a request's time from its first token to its end once drafts, verifications, auxiliary
// passes and what prices of rounds cover are taken off: deciding, recording, waiting between rounds.

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
#include "rounds/drafts/staged_passes.h"

namespace draftscope::simulator {

/// Host time of a recorded run beside its passes and what prices of its rounds cover.
struct HostOfRun {
  traces::RunId run_id;
  std::string strategy;       ///< name
  double ns_per_round = 0.0;  ///< negative: less than other runs' rounds take
  double time_ratio = 1.0;    ///< time of all requests / what prices cover of it
};

struct AuxiliaryTimes {
  std::vector<MeasuredAuxiliaryPass> passes;
  std::vector<HostOfRun> hosts;  ///< of runs that draft, in the order of `runs`
};

/// Rules of a run's auxiliary passes, from its specification or, if that names a policy file, from the
/// parameters that it stands for. Nothing for a strategy without any, or one that is not known.
[[nodiscard]] std::optional<AuxiliaryWork> auxiliary_work_of(const traces::Run& run, const ModelShape& shape);

/// Shape of the model that drafts in a run of two models; nothing where the recording does not have it.
[[nodiscard]] std::optional<ModelShape> draft_model_of(const traces::Run& run, const traces::Meta& meta);

/// Adds the request's auxiliary passes to `counts`, by the rules of its strategy and by which of its rounds
/// took time for it. `is_first` as in AuxiliaryWork::after_prefill().
void count_auxiliary_work(const RequestRows& request, bool is_first, const AuxiliaryWork& work,
                          AuxiliaryPasses& passes, std::vector<PassCount>& counts);

/// Whether a run's request is the first of its repeat: strategies begin each repeat anew.
[[nodiscard]] bool is_first_of_repeat(const RunRows& run, std::size_t request);

/// Adds the steps of another model that drafts, and what it reads of the text before. `shape` is its own.
void count_draft_model(const RequestRows& request, const ModelShape& shape, AuxiliaryPasses& passes,
                       std::vector<PassCount>& counts);

/// Adds host time to every round of the statistics.
void add_host_time(double ns_per_round, StrategyRounds& rounds);

/// `model` is fitted to the recording, which `runs` are of, and `staged` too. Errors: unreadable decisions, a
/// model that does not price its own recording.
[[nodiscard]] Result<AuxiliaryTimes> auxiliary_times(traces::Reader& reader,
                                                     const traces::Recording& recording,
                                                     std::span<const RunRows> runs, const CostModel& model,
                                                     const StagedPasses& staged);

}  // namespace draftscope::simulator
