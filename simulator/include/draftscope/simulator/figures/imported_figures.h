// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of an imported trace: what rests on something that its source lacked is left out, so that no report
// shows a placeholder as a measurement (draftscope/traces/missing_data.h).

#include <draftscope/simulator/figures/figures.h>
#include <draftscope/traces/missing_data.h>
#include <string>

namespace draftscope::simulator {

void drop_unavailable(RecordingFigures& figures, const traces::Meta& meta);

/// "imported from a.jsonl, which lacks draft lengths, token ids": empty for what was recorded.
[[nodiscard]] std::string import_note(const traces::Meta& meta);

/// Whether an imported trace has rounds with accepted lengths, or states an acceptance rate: a timeline of
/// kernels has neither, and nothing can be predicted from it.
[[nodiscard]] bool knows_acceptance(const traces::Meta& meta);

}  // namespace draftscope::simulator
