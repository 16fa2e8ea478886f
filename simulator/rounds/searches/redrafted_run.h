// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A run that was not recorded, in the form of a recorded one, so that the statistics of recorded rounds
// (rounds/drafts/recorded_statistics.h) also apply to replayed ones.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "rounds/drafts/recorded_statistics.h"
#include "rounds/replay/replay.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/search_schedule.h"
#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

class RedraftedRun {
 public:
  /// Creates a run of `strategy` that decodes the requests of `like` and copies its other data.
  RedraftedRun(const traces::Run& like, const speculation::StrategySpecification& strategy);
  RedraftedRun(const RedraftedRun&) = delete;
  RedraftedRun& operator=(const RedraftedRun&) = delete;
  RedraftedRun(RedraftedRun&&) = delete;
  RedraftedRun& operator=(RedraftedRun&&) = delete;
  ~RedraftedRun() = default;

  /// Adds the request of `like` with these rounds, in order of the run's requests.
  void add(const RequestRows& like, std::vector<traces::Round> rounds);

  /// Makes every round that drafts use this set.
  void draft_with(traces::LayerSetId set_id);

  /// Rows of the run, which point into this object.
  [[nodiscard]] const RunRows& rows() const { return rows_; }

 private:
  traces::Run run_;
  std::deque<std::vector<traces::Round>> rounds_;
  RunRows rows_;
};

/// The case of rounds whose number of draft tokens is not known.
enum class Waste : std::uint8_t { least, most };

/// Replayed rounds in the form of recorded ones, with the fewest or the most draft tokens. Each drafts with
/// the layers of the recorded round at its root.
[[nodiscard]] std::vector<traces::Round> as_recorded(const RequestRows& like,
                                                     std::span<const ReplayedRound> replayed, Waste waste);

/// Gives time for a search to exactly those rounds of a request that a search follows, whichever of them had
/// time before.
void mark_searches(SearchSchedule& schedule, std::vector<traces::Round>& rounds);

/// Number of searches that the run recorded if they had ended by its last round; -1 if they continued.
[[nodiscard]] std::int64_t ended_searches(const RunRows& run);

// A recorded run with the sets and searches of another search (replayed_search.h).

/// A set with an id that `known` does not have.
[[nodiscard]] traces::LayerSet new_layer_set(const SkippedSublayers& skipped, const LayerSetsById& known);

class SearchedRun {
 public:
  SearchedRun(const RunRows& recorded, const LayerSetsById& sets, const ReplayedSearch& search);
  SearchedRun(const SearchedRun&) = delete;
  SearchedRun& operator=(const SearchedRun&) = delete;
  SearchedRun(SearchedRun&&) = delete;
  SearchedRun& operator=(SearchedRun&&) = delete;
  ~SearchedRun() = default;

  /// Rows that point into this object.
  [[nodiscard]] const RunRows& rows() const { return rows_; }
  /// Recorded sets and those of this run.
  [[nodiscard]] const LayerSetsById& sets() const { return sets_; }

 private:
  struct Asked {
    SkippedSublayers skipped;
    traces::LayerSet set;
  };

  traces::LayerSetId id_of(const SkippedSublayers& skipped);

  LayerSetsById sets_;
  std::deque<Asked> asked_;
  std::deque<std::vector<traces::Round>> rounds_;
  RunRows rows_;
};

}  // namespace draftscope::simulator
