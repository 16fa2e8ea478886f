// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of a frame of each view: while the range changes zoom and place, while the cursor moves through the
// rounds, or while it is repainted unchanged.

#include <string>

#include "window/main_window.h"

namespace draftscope::bench {

/// Prints a row of a table for every view: median, 95 % and worst of the main thread's CPU time, and the
/// worst wall time, in milliseconds. It takes views out of the window, which is useless afterwards.
void print_frames(gui::MainWindow& window);

}  // namespace draftscope::bench
