// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sets of sublayers that a recording tried, by drafting with them or as candidates of a search.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

/// [2 · layer] its attention, [2 · layer + 1] its MLP: whether the draft leaves it out.
using SkippedSublayers = std::vector<bool>;

/// A set that was tried, with its number of positions.
struct TriedSet {
  SkippedSublayers skipped;
  double judged = 0.0;
  double right = 0.0;
};

[[nodiscard]] SkippedSublayers skipped_by(const traces::LayerSet& set);

/// A candidate that a search scored after a round.
struct ScoredCandidate {
  traces::RoundId round_id;
  TriedSet set;      ///< Judged on the window of its run.
  std::string hits;  ///< [token of the window] 1 if the set predicts it, else 0; empty if not recorded.
};
using ScoredCandidates = std::vector<ScoredCandidate>;

/// Candidates that SWIFT's searches scored, in order of their decisions. Errors: unreadable decisions.
[[nodiscard]] Result<ScoredCandidates> scored_candidates(traces::Reader& reader,
                                                         std::span<const RunRows> runs,
                                                         std::int32_t n_layers);

/// Sets that runs drafted with, except exits, which leave out the end of the model.
[[nodiscard]] std::vector<TriedSet> drafted_sets(const traces::Recording& recording,
                                                 std::span<const RunRows> runs, const LayerSetsById& sets,
                                                 std::int32_t n_layers);

// Errors of the cost −ln(agreement) / the cost, by the square root of misfits that tried sets show.
inline constexpr double doubt_of_a_set = 0.2;  ///< Error of another set of the same search.
inline constexpr double doubt_of_a_schedule =
    0.3;  ///< Error of a set found at other times, or by other rules.

/// Expected agreement of a set, with its bounds at two standard errors.
struct ExpectedAgreement {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Agreement whose −ln is `cost`, with bounds at a difference of `error` from that.
[[nodiscard]] ExpectedAgreement agreement_of_cost(double cost, double error);

// Draft results of a draft that agrees less or more often than the recorded one: tokens turn wrong or right
// in the order of their confidence.

/// Positions that a run's drafts saw, and the number of right ones.
struct Seen {
  double judged = 0.0;
  double right = 0.0;

  /// −ln of the share of right ones, which is never quite 0 or 1.
  [[nodiscard]] double cost() const;
};

void add(const DraftedPosition& position, Seen& seen);
[[nodiscard]] Seen seen_of(const std::vector<DraftedPositions>& requests);

/// Positions whose agreement changes together, [request][position] of those shifted.
struct PositionGroups {
  static constexpr std::int32_t as_seen = -1;

  std::vector<std::vector<std::int32_t>> group;  ///< Index into `agreement`, or as_seen.
  std::vector<ExpectedAgreement> agreement;
};

/// Number of positions of each group that were seen.
[[nodiscard]] std::vector<Seen> seen_by_group(const std::vector<DraftedPositions>& requests,
                                              const PositionGroups& groups);

/// Positions of which this share of each group, [group], is right: as the draft agrees less often, its least
/// confident tokens turn wrong first.
[[nodiscard]] std::vector<DraftedPositions> shifted(std::vector<DraftedPositions> requests,
                                                    const PositionGroups& groups,
                                                    const std::vector<double>& agreement);

/// One group of all positions.
[[nodiscard]] PositionGroups one_group(const std::vector<DraftedPositions>& requests,
                                       const ExpectedAgreement& agreement);

}  // namespace draftscope::simulator
