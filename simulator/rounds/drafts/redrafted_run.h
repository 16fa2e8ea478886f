// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A run that was not recorded, in the form of one that was: the accounts of recorded rounds
// (rounds/drafts/recorded_statistics.h) are then those of replayed ones too.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <deque>
#include <span>
#include <vector>

#include "rounds/drafts/search_schedule.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

class RedraftedRun {
 public:
  /// A run of `strategy` with what else is known of `like`, whose requests it decodes.
  RedraftedRun(const traces::Run& like, const speculation::StrategySpecification& strategy);
  RedraftedRun(const RedraftedRun&) = delete;
  RedraftedRun& operator=(const RedraftedRun&) = delete;
  RedraftedRun(RedraftedRun&&) = delete;
  RedraftedRun& operator=(RedraftedRun&&) = delete;
  ~RedraftedRun() = default;

  /// Adds the request of `like` with these rounds, in the order of the run's requests.
  void add(const RequestRows& like, std::vector<traces::Round> rounds);

  /// Every round that drafts does so with this set.
  void draft_with(traces::LayerSetId set_id);

  /// Its rows, which point into this object.
  [[nodiscard]] const RunRows& rows() const { return rows_; }

 private:
  traces::Run run_;
  std::deque<std::vector<traces::Round>> rounds_;
  RunRows rows_;
};

/// Replayed rounds as the recording would have them, with the least or the most draft tokens. Each drafts
/// with the layers that the recorded round at its root drafted with.
[[nodiscard]] std::vector<traces::Round> as_recorded(const RequestRows& like,
                                                     std::span<const ReplayedRound> replayed, Waste waste);

/// Gives time for a search to the rounds of a request that one follows, and to no other; which round of them
/// had time before does not matter.
void mark_searches(SearchSchedule& schedule, std::vector<traces::Round>& rounds);

/// Searches that the run recorded if they had ended by its last round; -1 if they went on.
[[nodiscard]] std::int64_t ended_searches(const RunRows& run);

}  // namespace draftscope::simulator
