// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording on one screen: each strategy with what holds it back, each strategy on each kind of text, and
// what won.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

[[nodiscard]] std::string brief_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs);

}  // namespace draftscope::cli
