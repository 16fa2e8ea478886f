// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What strategies decided and why, as series over their decisions: SWIFT's matchness and phase over
// candidates, CLaSp's cosine and how long its sets persist (CLaSp, Fig. 3), DEL's TPL, and its acceptance and
// threshold of every exit (DEL, Fig. 4b), Draft & Verify's threshold (Draft & Verify, Fig. 5), lengths by
// rule; and which exits drafted on which kind of prompts (DEL, Fig. 1). Reports and views draw the same
// series.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A series that decisions of one kind have: one row of a table, decision_series().
struct SeriesRow {
  std::string_view kind;         ///< of the decisions, as in the trace
  std::string_view key;          ///< in JSON
  std::string_view title;        ///< for people
  std::string_view explanation;  ///< a sentence without its final stop
  std::string_view field;        ///< of the decision's detail; empty = its score
  std::string_view only_with;    ///< a field that the detail must have, too; empty = none
  bool per_exit = false;         ///< the field is a list, one value an exit
};

[[nodiscard]] std::span<const SeriesRow> decision_series();

/// Words that decisions of one kind say: one row of a table, decision_words().
struct WordsRow {
  std::string_view kind;         ///< of the decisions, as in the trace
  std::string_view key;          ///< in JSON
  std::string_view title;        ///< for people
  std::string_view explanation;  ///< a sentence without its final stop
  std::string_view field;        ///< of the decision's detail
};

[[nodiscard]] std::span<const WordsRow> decision_words();

struct DecisionSeries {
  const SeriesRow* row = nullptr;
  std::int32_t exit = 0;       ///< the exit that this series is of; 0 where the row is not per exit
  std::vector<double> values;  ///< one a decision; not a number where a decision has none
};

struct DecisionWords {
  const WordsRow* row = nullptr;
  std::vector<std::string> values;  ///< one a decision; empty where a decision has none
};

/// The decisions of one kind that a run made, in the order of time. All lists have one element a decision.
struct DecisionsOfKind {
  std::string kind;
  std::vector<traces::RequestId> requests;
  std::vector<std::int32_t> rounds;  ///< index within the request; -1 before the first
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<bool> adopted;
  std::vector<DecisionSeries> series;
  std::vector<DecisionWords> words;  ///< those that any of them has
};

/// How much two sets of skipped layers have in common by how far apart they were chosen.
struct Persistence {
  std::int32_t min_gap = 0;  ///< tokens between the two choices, in one request
  std::int32_t max_gap = 0;  ///< likewise
  std::int64_t pairs = 0;
  double jaccard = 0.0;  ///< mean of |A ∩ B| / |A ∪ B| over the pairs; 1 = the same set
};

/// Rounds that drafted at one exit on prompts of one category.
struct ExitByCategory {
  std::int32_t exit = 0;  ///< layers
  std::string category;
  std::int64_t rounds = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

struct RunDecisions {
  const traces::Run* run = nullptr;
  std::vector<DecisionsOfKind> kinds;    ///< in the order of their first decision
  std::vector<Persistence> persistence;  ///< empty unless decisions choose layers to skip at positions
  std::vector<ExitByCategory> exits;     ///< by exit, then category; empty where none was chosen
};

/// One element a run, in the recording's order. `recording` must outlive the result. A detail that is no
/// object, or lacks a field, has no value in the series. Errors: unreadable tables.
[[nodiscard]] Result<std::vector<RunDecisions>> read_decisions(traces::Reader& reader,
                                                               const traces::Recording& recording);

}  // namespace draftscope::simulator
