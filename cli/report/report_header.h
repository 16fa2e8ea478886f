// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The lines above every report: what was recorded, on what, and what to be wary of.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// "recording", "model", "machine" and "decoding" lines, and a "warning" line for each reason to doubt the
/// figures.
[[nodiscard]] std::string header_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

}  // namespace draftscope::cli
