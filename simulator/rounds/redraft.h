// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of settings that were not recorded, from what a run's draft said of its texts: replayed with another
// length or stop rule, or as they were with another schedule of searches. In the form of recorded runs, whose
// accounts are then theirs.

#include <cstdint>
#include <memory>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/drafted_table.h"
#include "rounds/drafts/redrafted_run.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

/// One run's texts, with what its draft said of them.
struct DraftedTexts {
  RunRows run;                       ///< first repeat of each prompt
  std::vector<DraftedTable> tables;  ///< [request of the run]
  bool has_confidences = false;
};

/// [request of `run`].
[[nodiscard]] std::vector<DraftedPositions> positions_of_run(const traces::Recording& recording,
                                                             const RunRows& run);

/// Tables of a run's requests; `positions` is [request of `run`], `model` fitted to them.
[[nodiscard]] DraftedTexts drafted_texts(RunRows run, const std::vector<DraftedPositions>& positions,
                                         const AcceptanceModel& model);
/// The same with the model that was fitted to the run when it was asked about first. Errors: no draft token
/// that was judged.
[[nodiscard]] Result<DraftedTexts> drafted_texts(const TrainedRecording& trained, RunRows run,
                                                 const std::vector<DraftedPositions>& positions);

/// Whether a replayed round went by a position that was drawn.
[[nodiscard]] bool has_drawn(const DraftedTable& table, const ReplayedRound& round);

/// Both ends of what a replay leaves open, as runs; `most` is null where nothing is left open.
struct Redrafted {
  std::unique_ptr<RedraftedRun> least, most;
  AnswerStatus status = AnswerStatus::exact;
  std::int64_t drawn_rounds = 0;
  std::int64_t rounds = 0;
};

/// The strategy's lengths and stop rule on these texts. Errors: a rule that a draft's tables do not tell
/// (chain_policy()), a stop rule without confidences, unknown limits.
[[nodiscard]] Result<Redrafted> redraft(const TrainedRecording& trained, const DraftedTexts& texts,
                                        const speculation::StrategySpecification& strategy);

/// The run's rounds, with the searches of the strategy's schedule.
[[nodiscard]] Redrafted rescheduled(const RunRows& run, const speculation::StrategySpecification& strategy,
                                    std::int32_t n_layers);

/// The texts of a run, to which statistics are added: `vanilla` and `categories`.
[[nodiscard]] StrategyRounds rounds_on_texts(const RunRows& run, std::string_view strategy);

/// Adds statistics of both ends, what drafts, auxiliary passes, and the host time of `like`; `sets` has the
/// layer sets that rounds name. Errors: as recorded_statistics().
[[nodiscard]] Result<void> put_statistics(const TrainedRecording& trained, const LayerSetsById& sets,
                                          const Redrafted& redrafted, traces::RunId like,
                                          StrategyRounds& rounds);

}  // namespace draftscope::simulator
