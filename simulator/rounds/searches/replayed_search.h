// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recorded search for layers, replayed with other parameters on the rounds that were recorded: which set
// each round would have drafted with, and whether a search would have followed it. It is exact up to the
// first search that differs; from there the rounds are no longer those recorded, and it is approximate.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/drafts/recorded_statistics.h"
#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

class SetAgreement;  // rounds/searches/set_agreement.h

/// Data of a recorded search. All outlive it.
struct RecordedSearch {
  const RunRows& run;  ///< One repeat.
  const speculation::StrategySpecification& strategy;
  const ScoredCandidates& candidates;  ///< Candidates of all runs.
  const LayerSetsById& layer_sets;
  std::int32_t n_layers = 0;
};

/// Set that drafts a round of another search.
enum class RoundSet : std::uint8_t {
  recorded,   ///< The recorded round's set.
  known,      ///< Another set that the recorded search tried.
  other_age,  ///< A set like the recorded one, found at another time.
  unknown,    ///< A set that the recording does not determine.
};

struct SearchedRound {
  RoundSet draft = RoundSet::recorded;
  std::size_t recorded_set = 0;   ///< Recorded set, an index into ReplayedSearch::sets, if that has sets.
  std::size_t asked_set = 0;      ///< Set of the other search, an index into ReplayedSearch::sets.
  std::int32_t recorded_age = 0;  ///< Tokens since the recorded search, where draft is other_age.
  std::int32_t asked_age = 0;     ///< Tokens since the other search, where draft is other_age.
  bool is_followed = false;       ///< Whether a search follows the round.
};

struct ReplayedSearch {
  std::vector<std::vector<SearchedRound>> rounds;  ///< [request of the run][round]
  std::vector<TriedSet> sets;  ///< Sets that were tried, with the tokens on which their scores judged them.
  std::int64_t searches = 0;   ///< Searches of all rounds.
  bool has_ended = false;      ///< Whether the search is over by the last round.
  bool is_exact = true;        ///< Whether it goes by scores of the same sets at the same places.
};

/// Number of rounds that draft so.
[[nodiscard]] std::int64_t rounds_that_draft(const ReplayedSearch& search, RoundSet draft);
/// Whether searches follow the same rounds as recorded.
[[nodiscard]] bool searches_as_recorded(const ReplayedSearch& search, const RunRows& run);

/// Whether the two differ, among the parameters of their search, in these alone.
[[nodiscard]] bool searches_differ_only_in(const speculation::StrategySpecification& asked,
                                           const speculation::StrategySpecification& recorded,
                                           std::initializer_list<std::string_view> parameters);

/// Replays a search that begins anew with each request and goes by a schedule: as recorded up to the first
/// search that differs in a request.
[[nodiscard]] ReplayedSearch replayed_schedule(const RecordedSearch& recorded,
                                               const speculation::StrategySpecification& asked);

/// How the share of wrong tokens grows with each doubling of the tokens since the search, with its standard
/// error: a linear regression over rounds of periodic searches, within each request and beside the place in
/// the output, so that a hard text is no old set. Prior: 0.01 ± 0.02.
struct AgeSlope {
  double wrong_per_doubling = 0.01;
  double error = 0.02;
};

/// Adds up runs of one draft.
class AgeRegression {
 public:
  /// `positions` is [request of the run].
  void add(const RunRows& run, const std::vector<DraftedPositions>& positions);
  [[nodiscard]] AgeSlope slope() const;

 private:
  // Sums of products around the means of each request: doublings of the age and of the place in the output,
  // and wrong tokens.
  double age_age_ = 0.0;
  double age_place_ = 0.0;
  double place_place_ = 0.0;
  double age_wrong_ = 0.0;
  double place_wrong_ = 0.0;
  double judged_ = 0.0;
  double wrong_ = 0.0;
};

/// Positions whose set is not the recorded one, and how often that set agrees there. `sets` is the model of
/// sets (null = none). `positions` is [request of the run].
[[nodiscard]] PositionGroups groups_of(const ReplayedSearch& search, const RunRows& run,
                                       const std::vector<DraftedPositions>& positions,
                                       const SetAgreement* sets, const AgeSlope& slope);

/// Notes of an answer, about the rounds that do not draft as recorded.
[[nodiscard]] std::vector<std::string> notes_of(const ReplayedSearch& search, const PositionGroups& groups,
                                                const AgeSlope& slope);

}  // namespace draftscope::simulator
