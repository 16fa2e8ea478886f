// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions of the strategies of a recording, and the round of its run at which each is shown. Immutable once
// read.

#include <draftscope/simulator/analysis/decisions.h>
#include <functional>
#include <memory>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// A decision of a run, by index into RunDecisions::kinds and into that kind's lists.
struct DecisionPlace {
  std::size_t kind = 0;
  std::size_t index = 0;

  friend bool operator==(const DecisionPlace& a, const DecisionPlace& b) {
    return a.kind == b.kind && a.index == b.index;
  }
};

struct RunHistory {
  simulator::RunDecisions decisions;
  /// [kind][decision] Place in the run of the round in or after which the decision was made. A decision
  /// before the first round has that round's place. no_index if its request has no round.
  std::vector<std::vector<std::uint32_t>> places;

  [[nodiscard]] bool empty() const { return decisions.kinds.empty(); }
  /// Null if no decision is of this kind.
  [[nodiscard]] const simulator::DecisionsOfKind* kind(std::string_view name) const;
  /// Index into the kinds; their number if none has this name.
  [[nodiscard]] std::size_t kind_index(std::string_view name) const;
};

struct DecisionHistory {
  RecordingPointer recording;    ///< Recording that the runs point into.
  std::vector<RunHistory> runs;  ///< One per run, as OpenedRecording::runs().
};

/// Reads the decisions of a recording. O(decisions and rounds). `should_continue` is polled; false cancels.
/// Errors: unreadable tables; "cancelled".
[[nodiscard]] Result<DecisionHistory> read_decision_history(const RecordingPointer& recording,
                                                            const std::function<bool()>& should_continue);
/// Finds the places of decisions that have been read already.
[[nodiscard]] DecisionHistory decision_history(const RecordingPointer& recording,
                                               std::vector<simulator::RunDecisions> runs);

/// "layer set: matchness 0.62, best before 0.55, origin random; took effect". One line.
[[nodiscard]] std::string decision_text(const simulator::DecisionsOfKind& decisions, std::size_t index);

/// Value of a series at a decision; NaN where the series has none.
[[nodiscard]] double series_value(const simulator::DecisionsOfKind& decisions, std::string_view key,
                                  std::size_t index);

}  // namespace draftscope::gui
