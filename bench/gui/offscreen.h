// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real window without a display: opens a recording, waits for workers, shows every view.

#include <QString>
#include <filesystem>
#include <functional>

#include "../../tests/gui/settle.h"
#include "window/main_window.h"

namespace draftscope::bench {

/// Resident memory of the process, in bytes.
[[nodiscard]] double resident_bytes();

/// CPU time of all threads of this process, in seconds.
[[nodiscard]] double computed_s();

using gui::settle;

/// Waits until events have made the condition true; sleeps meanwhile.
void wait_until(const std::function<bool()>& is_there);

/// Wall time, and the CPU time of all threads during it.
struct Passed {
  double clock_s = 0.0;
  double computed_s = 0.0;
};

struct Opening {
  Passed painted;   ///< Until the whole window was painted with its first data.
  Passed loaded;    ///< Until all rows were loaded and painted.
  QString problem;  ///< empty = it was opened
};
[[nodiscard]] Opening open(gui::MainWindow& window, const std::filesystem::path& path);

/// Shows the page, the tab and the view, and waits for their data.
void show(gui::MainWindow& window, const gui::NamedView& named);

}  // namespace draftscope::bench
