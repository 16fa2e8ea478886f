// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recorded run with the sets and searches of another search (replayed_search.h).

#include <draftscope/simulator/analysis/run_rows.h>
#include <deque>
#include <vector>

#include "rounds/drafts/recorded_statistics.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

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
