// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Data that questions about one recording need, read and fitted once (what_if.h). Thread-safe once trained.

#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/explain/slow_baseline.h"
#include "prices/fit/cost_observations.h"
#include "rounds/drafts/auxiliary_times.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/drafts/round_notes.h"
#include "rounds/replay/acceptance_models.h"
#include "rounds/replay/replay.h"
#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

class SetAgreement;  // rounds/searches/set_agreement.h

/// Texts of the recording, one per prompt, from vanilla decoding if that was recorded.
struct PromptTexts {
  std::vector<ShadowTable> tables;
  std::vector<std::string> categories;  ///< [table]
};

struct TrainedRecording {
  const traces::Recording* recording = nullptr;
  std::vector<RunRows> runs;
  std::unordered_map<std::string, std::size_t>
      first_run;  ///< Index into `runs` by specification_key(), of runs with rounds or imported.
  LayerSetsById layer_sets;
  PromptTexts shadowed;          ///< Texts with every layer's predictions; empty without shadow tokens.
  std::string no_tables_reason;  ///< One line; empty if there are tables.
  PromptTexts plain;             ///< Texts with token ids only, where `shadowed` is empty.
  ReplayConditions conditions;
  std::string no_conditions_reason;  ///< One line; empty if they are known.
  CostFit costs;
  DeviceTime vanilla_device;     ///< Vanilla decoding; has no rounds where the device was not recorded.
  std::vector<HostOfRun> hosts;  ///< Runs that draft.
  std::shared_ptr<FittedAcceptance> acceptance;       ///< Models of recorded runs, fitted on demand.
  std::shared_ptr<const SetAgreement> set_agreement;  ///< Null where no set of sublayers was tried.
  ScoredCandidates candidates;                        ///< Sets that searches scored, in order.
  std::size_t tried_sets = 0;                         ///< Number of sets that it was fitted to.
  TargetProbabilities target_probabilities;           ///< Empty where they were not recorded.
  StagedPasses staged_passes;                         ///< Passes of staged drafts.
  NotedTokens noted_tokens;                           ///< Token lists of jacobi and lookahead.

  [[nodiscard]] const PromptTexts& texts() const { return shadowed.tables.empty() ? plain : shadowed; }
  [[nodiscard]] std::int32_t n_layers() const { return costs.model.shape.n_layers; }
};

/// Times of the recording's target passes, by which explain() and advise() judge its baseline.
[[nodiscard]] TargetPasses target_passes(const TrainedRecording& trained);

/// Whether a finished request of the run has rounds; the run of an interrupted recording may have none.
[[nodiscard]] bool has_rounds(const RunRows& run);

/// Whether rules that go by the texts' tokens can run over them: they are known, as is how they ended, and
/// have a place in the rules' tables, which are as long as the vocabulary. Errors: else, with the strategy.
[[nodiscard]] Result<void> check_texts(const TrainedRecording& trained, std::string_view strategy);

/// The other parameters are those of WhatIfOptions. Errors: those of WhatIf::train().
[[nodiscard]] Result<TrainedRecording> train(
    traces::Reader& reader, const traces::Recording& recording,
    const std::optional<GpuSpecification>& recorded_on, const std::optional<CostModel>& specified,
    const std::function<bool(std::int64_t done, std::int64_t all)>& progress);

}  // namespace draftscope::simulator
