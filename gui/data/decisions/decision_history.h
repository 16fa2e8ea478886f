// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions of the strategies of a recording, and the round of its run at which each is shown. Immutable once
// read.

#include <draftscope/simulator/analysis/decisions.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// A decision of a run, by index into RunDecisions::kinds and into that kind's lists.
struct DecisionPlace {
  std::size_t kind = 0;
  std::size_t index = 0;

  friend bool operator==(const DecisionPlace&, const DecisionPlace&) = default;
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

/// Changes of a run's mask: how far a mask is from the one before it, and which decision caused the change.
struct MaskChange {
  std::uint32_t before = no_index;  ///< Place of the previous round that drafted with layers.
  std::int32_t differing = 0;       ///< Sublayers that exactly one of the two masks skips.
  std::int32_t sublayers = 0;
  double in_common = 1.0;  ///< Overlap of skipped sublayers, |A ∩ B| / |A ∪ B|; 1 if neither skips any.
};

/// None if the round at this place drafts with the mask of the last round before it, or without a mask.
[[nodiscard]] std::optional<MaskChange> mask_change(const OpenedRecording& opened, std::size_t run_index,
                                                    std::size_t place);

/// Finds the decision that chose the mask at this place: the round's own one if each round decides for
/// itself, else the last one before it that took effect. None if no recorded decision chose the mask.
[[nodiscard]] std::optional<DecisionPlace> mask_decision(const DecisionHistory& history,
                                                         std::size_t run_index, std::size_t place);

/// "the mask changed in 5 of 24 sublayers from round 40's (61 % of the skipped in common), because of …". One
/// line; empty where it did not change.
[[nodiscard]] std::string mask_change_text(const DecisionHistory& history, std::size_t run_index,
                                           std::size_t place);

}  // namespace draftscope::gui
