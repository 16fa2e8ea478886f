// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The lines above every report: what was recorded, on what, and what to be wary of.

#include <string>
#include <vector>

#include "report_glyphs.h"
#include "report_recording.h"

namespace draftscope::cli {

/// "recording", "model", "machine" and "decoding" lines, and a "warning" line for each reason to doubt the
/// figures.
[[nodiscard]] std::string header_text(const MeasuredRecording& measured, const Glyphs& glyphs);

/// Reasons to doubt the figures, one line each: not closed cleanly, dropped rows, unfinished requests,
/// outputs that differ although decoding is greedy, no baseline.
[[nodiscard]] std::vector<std::string> warnings(const MeasuredRecording& measured);

}  // namespace draftscope::cli
