// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of a frame of each view: while the range goes through zooms and places, while the cursor goes through
// the rounds, or of repainting it as it is.

#include <string>

#include "window/main_window.h"

namespace draftscope::bench {

/// Prints a row of a table for every view: median, 95 % and worst of what the main thread computed, and the
/// worst on the clock, in milliseconds. It takes views out of the window, which is useless afterwards.
void print_frames(gui::MainWindow& window);

}  // namespace draftscope::bench
