// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded texts as `auto` would meet them: the prediction of each of its drafters, if part of the model, at
// each position. An exit's predictions come from the shadow tokens where they exist. Otherwise, and for
// drafts in fewer bits and with skip sets, they come from recorded drafts: runs with the same draft, and
// rounds in which a recorded `auto` took it. Positions that nobody drafted are drawn
// (simulator/rounds/drafts/drafted_table.h).

#include <draftscope/base/result.h>
#include <optional>
#include <string>
#include <vector>

#include "rounds/trained_recording.h"
#include "strategies/auto/rule_drafters.h"

namespace draftscope::simulator {

struct AutoTexts {
  std::vector<speculation::AutoDrafter> drafters;  ///< Drafters with recorded tokens, in auto's order.
  /// [text of the recording]; layer i + 1 is drafter i, and the last layer is the target.
  std::vector<ShadowTable> tables;
  std::vector<std::vector<std::vector<bool>>> is_drawn;  ///< [drafter][text][position − table.first]
  /// [drafter]: confidences of tokens that were drafted after a wrong one; of all tokens where there was
  /// none.
  std::vector<std::vector<float>> behind_wrong;
  std::vector<std::string> left_out;  ///< Names of drafters without recorded tokens.
  /// Lines that say where drafters' tokens come from and which drafters are left out.
  std::vector<std::string> notes;
};

/// How the recording's target was stored in memory.
[[nodiscard]] speculation::HeldTarget recorded_target(const traces::Meta& meta);

/// Collects the texts. Errors: no texts; texts that another strategy would not have written; a drafter that
/// the specification names but that has no recorded tokens.
[[nodiscard]] Result<AutoTexts> auto_texts(const TrainedRecording& trained,
                                           const speculation::StrategySpecification& automatic);

/// `auto` with its defaults, limited to drafters with recorded tokens; nothing where not even texts are
/// recorded.
[[nodiscard]] std::optional<std::string> known_auto(const TrainedRecording& trained);

}  // namespace draftscope::simulator
