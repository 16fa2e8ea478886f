// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Sentence about requests whose output an earlier request of the run had given, if they yield at least a
/// quarter more tokens a round than it did: drafts from texts that a run keeps know them. Empty otherwise.
[[nodiscard]] std::string known_texts_note(const RunRows& run);

/// Sentences about models that draft and have fewer positions than the longest prompt: there they draft
/// nothing. Sizes are those of the recording's `draft_model_shapes`.
[[nodiscard]] std::vector<std::string> short_drafts_notes(const traces::Recording& recording);

}  // namespace draftscope::simulator
