// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Heat maps of early exits (DEL, Fig. 1(b)): the speedup of each exit and length in stretches of the output,
// of all prompts and of the first two.

#include <draftscope/traces/reader.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// One table for each prompt and stretch, exits by lengths; an asterisk marks the fastest setting. Runs whose
/// specification has no `exit` and `gamma` are left out.
[[nodiscard]] std::string heat_maps_text(const traces::Recording& recording, const Glyphs& glyphs);

}  // namespace draftscope::cli
