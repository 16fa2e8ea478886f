// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded texts as `auto` would meet them: what each of its drafters by a part of the model says of each
// position. An exit's predictions are those of the shadow tokens where there are any. Else, and of drafts in
// fewer bits and of skip sets, they are what recorded drafts said: those of runs with the same draft, and of
// the rounds in which a recorded `auto` took it. Positions that nobody drafted are drawn
// (simulator/rounds/drafts/drafted_table.h).

#include <draftscope/base/result.h>
#include <optional>
#include <string>
#include <vector>

#include "rounds/trained_recording.h"
#include "strategies/auto/rule_drafters.h"

namespace draftscope::simulator {

struct AutoTexts {
  std::vector<speculation::AutoDrafter> drafters;  ///< of which something is recorded, in auto's order
  /// [text of the recording]: layer i + 1 is drafter i, the last layer is the target.
  std::vector<ShadowTable> tables;
  std::vector<std::vector<std::vector<bool>>> is_drawn;  ///< [drafter][text][position − table.first]
  /// [drafter]: confidences of tokens that were drafted behind a wrong one; of all, where none was.
  std::vector<std::vector<float>> behind_wrong;
  std::vector<std::string> left_out;  ///< names of drafters of which nothing is recorded
  std::vector<std::string> notes;     ///< a line each: where drafters' tokens come from, which are left out
};

/// How the recording's target was held.
[[nodiscard]] speculation::HeldTarget recorded_target(const traces::Meta& meta);

/// Errors: no texts, or texts that another strategy would not have written; a drafter that the specification
/// names and of which nothing is recorded.
[[nodiscard]] Result<AutoTexts> auto_texts(const TrainedRecording& trained,
                                           const speculation::StrategySpecification& automatic);

/// `auto` with its defaults and no other drafters than those of which something is recorded; nothing where
/// not even texts are.
[[nodiscard]] std::optional<std::string> known_auto(const TrainedRecording& trained);

}  // namespace draftscope::simulator
