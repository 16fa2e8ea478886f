// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of settings that were not recorded, from a run's drafts of its texts, which are replayed with
// another length, stop rule or tree, or agree less or more often. They have the form of recorded runs, so
// that the same statistics apply.

#include <cstdint>
#include <memory>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/drafted_table.h"
#include "rounds/searches/redrafted_run.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

/// One run's texts, with its draft results.
struct DraftedTexts {
  RunRows run;                       ///< First repeat of each prompt.
  std::vector<DraftedTable> tables;  ///< [request of the run]
  bool has_confidences = false;
  bool has_siblings = false;  ///< Whether steps with several tokens were seen.
};

/// [request of `run`].
[[nodiscard]] std::vector<DraftedPositions> positions_of_run(const traces::Recording& recording,
                                                             const RunRows& run);

/// Tables of a run's requests; `positions` is [request of `run`], `model` is fitted to them.
[[nodiscard]] DraftedTexts drafted_texts(RunRows run, const std::vector<DraftedPositions>& positions,
                                         const AcceptanceModel& model);
/// Tables with the model that was fitted to the run at the first question about it. Errors: no draft token
/// that was judged.
[[nodiscard]] Result<DraftedTexts> drafted_texts(const TrainedRecording& trained, RunRows run,
                                                 const std::vector<DraftedPositions>& positions);

/// Errors: the strategy's stop rule goes by confidences that these drafts lack, or its tree by siblings.
[[nodiscard]] Result<void> expect_replayable(const DraftedTexts& texts,
                                             const speculation::StrategySpecification& strategy);

/// Whether a replayed round depends on a randomly drawn position.
[[nodiscard]] bool has_drawn(const DraftedTable& table, const ReplayedRound& round);

/// Both ends of an uncertain replay, or both cases, as runs; `most` is null where the replay is certain.
struct Redrafted {
  std::unique_ptr<RedraftedRun> least, most;
  AnswerStatus status = AnswerStatus::exact;
  std::int64_t drawn_rounds = 0;
  std::int64_t moved_rounds = 0;  ///< Rounds that draft from a token where no recorded round began.
  std::int64_t rounds = 0;
  bool has_hard_case = false;  ///< Whether `most` takes drawn positions as hard.
};

/// Applies the strategy's lengths, stop rule and widths to these texts. `searches`: of a search that has
/// ended by then, negative = it goes on. Errors: a rule that a draft's tables can't replay (chain_policy()),
/// a stop rule without confidences, a tree without siblings, unknown limits.
[[nodiscard]] Result<Redrafted> redraft(const TrainedRecording& trained, const DraftedTexts& texts,
                                        const speculation::StrategySpecification& strategy,
                                        std::int64_t searches);

/// Rounds on the texts of a run, with `vanilla` and `categories`; statistics are added later.
[[nodiscard]] StrategyRounds rounds_on_texts(const RunRows& run, std::string_view strategy,
                                             RoundSource source = RoundSource::modelled);

/// Puts the statistics of rounds in place, with what they draft with and their auxiliary passes.
void put_statistics(RecordedStatistics statistics, StrategyRounds& rounds);

/// Puts the statistics of both ends in place, and adds the host time of `like`; `sets` has the layer sets
/// that rounds name. Errors: those of recorded_statistics().
[[nodiscard]] Result<void> put_statistics(const TrainedRecording& trained, const LayerSetsById& sets,
                                          const Redrafted& redrafted, traces::RunId like,
                                          StrategyRounds& rounds);

}  // namespace draftscope::simulator
