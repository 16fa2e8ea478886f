// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Bars in the terminal: where the time of a run went, what was accepted at each draft position, how drafts
// ended.

#include <draftscope/simulator/analysis/figures.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

[[nodiscard]] std::string run_charts(const simulator::Figures& figures, const Glyphs& glyphs);

/// One line: "    qa  2.31 s: prefill 6.1 %, draft 31.0 %, …".
[[nodiscard]] std::string category_breakdown(const simulator::Figures& figures, const Glyphs& glyphs);

}  // namespace draftscope::cli
