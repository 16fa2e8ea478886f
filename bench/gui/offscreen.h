// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real window without a display: opens a recording, waits for workers, brings up every view.

#include <QString>
#include <filesystem>
#include <functional>

#include "window/main_window.h"

namespace draftscope::bench {

/// Memory of the process that is in RAM, in bytes.
[[nodiscard]] double resident_bytes();

/// Time that all threads of this process have computed, in seconds.
[[nodiscard]] double computed_s();

/// Until workers are done, what they found is shown, and nothing that this began is under way.
void settle();

/// Until an event has made it so; sleeps meanwhile.
void wait_until(const std::function<bool()>& is_there);

/// Time on the clock, and what all threads computed meanwhile.
struct Passed {
  double clock_s = 0.0;
  double computed_s = 0.0;
};

struct Opening {
  Passed painted;   ///< until the whole window was painted with what was known first
  Passed loaded;    ///< until all rows were there and the window was painted with them
  QString problem;  ///< empty: it was opened
};
[[nodiscard]] Opening open(gui::MainWindow& window, const std::filesystem::path& path);

/// Brings up the page, the tab and the view, and waits for what they read.
void show(gui::MainWindow& window, const gui::NamedView& named);

}  // namespace draftscope::bench
