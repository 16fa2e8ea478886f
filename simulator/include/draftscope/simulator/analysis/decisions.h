// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions of strategies and their reasons, as series over time: SWIFT's matchness (SWIFT, Fig. 6) and phase
// over candidates; CLaSp's cosine, and how long its sets persist (CLaSp, Fig. 3a). Further series are DEL's
// exit (DEL, Fig. 4c), its TPL, and acceptance and threshold of every exit; Draft & Verify's threshold (Draft
// & Verify, Fig. 5); and draft lengths by rule. A table says which exits drafted on which category of
// prompts. Reports and views draw the same series.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A numeric series that decisions of one kind have: one row of the table decision_series().
struct SeriesRow {
  std::string_view kind;         ///< Kind of the decisions, as in the trace.
  std::string_view key;          ///< Key in JSON.
  std::string_view title;        ///< Title for people.
  std::string_view explanation;  ///< Explanation: a sentence without its final stop.
  std::string_view field;        ///< Field of the decision's detail; empty = its score.
  std::string_view only_with;    ///< Another field that the detail must have; empty = none.
  bool per_exit = false;         ///< Whether the field is a list with one value per exit.
};

[[nodiscard]] std::span<const SeriesRow> decision_series();

/// A textual series that decisions of one kind have: one row of the table decision_words().
struct WordsRow {
  std::string_view kind;         ///< Kind of the decisions, as in the trace.
  std::string_view key;          ///< Key in JSON.
  std::string_view title;        ///< Title for people.
  std::string_view explanation;  ///< Explanation: a sentence without its final stop.
  std::string_view field;        ///< Field of the decision's detail.
};

[[nodiscard]] std::span<const WordsRow> decision_words();

struct DecisionSeries {
  const SeriesRow* row = nullptr;
  std::int32_t exit = 0;       ///< Exit that this series describes; 0 where the row is not per exit.
  std::vector<double> values;  ///< [decision]; NaN where a decision has no value
};

struct DecisionWords {
  const WordsRow* row = nullptr;
  std::vector<std::string> values;  ///< [decision]; empty where a decision has no value
};

/// The decisions of one kind that a run made, in order of time. All lists have one element per decision.
struct DecisionsOfKind {
  std::string kind;
  std::vector<traces::RequestId> requests;
  std::vector<std::int32_t> rounds;  ///< Index of the round within the request; -1 before the first round.
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<bool> adopted;
  std::vector<DecisionSeries> series;
  std::vector<DecisionWords> words;  ///< The textual series for which any decision has a value.
};

/// Similarity of two sets of skipped layers as a function of the distance between their choices.
struct Persistence {
  std::int32_t min_gap = 0;  ///< Minimum number of tokens between the two choices, in one request.
  std::int32_t max_gap = 0;  ///< Maximum number of tokens between the two choices, in one request.
  std::int64_t pairs = 0;
  double jaccard = 0.0;  ///< Mean of |A ∩ B| / |A ∪ B| over the pairs; 1 = the same set.
};

/// Rounds that drafted at one exit on prompts of one category.
struct ExitByCategory {
  std::int32_t exit = 0;  ///< Exit layer.
  std::string category;
  std::int64_t rounds = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

struct RunDecisions {
  const traces::Run* run = nullptr;
  std::vector<DecisionsOfKind> kinds;    ///< Kinds in order of their first decision.
  std::vector<Persistence> persistence;  ///< Empty unless decisions choose layers to skip at positions.
  std::vector<ExitByCategory> exits;     ///< Ordered by exit, then category; empty where no exit was chosen.
};

/// One element per run, in order of the recording. `recording` must outlive the result. A decision whose
/// detail is no object, or lacks a field, has no value in the series. Errors: unreadable tables.
[[nodiscard]] Result<std::vector<RunDecisions>> read_decisions(traces::Reader& reader,
                                                               const traces::Recording& recording);

}  // namespace draftscope::simulator
