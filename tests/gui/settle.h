// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Waits for a window that reads on worker threads.

#include <QApplication>
#include <QThreadPool>

namespace draftscope::gui {

/// Waits until the workers are done, their results are shown, and nothing that they began is under way.
inline void settle() {
  constexpr int quiet_turns = 3;
  for (int quiet = 0; quiet < quiet_turns; ++quiet) {
    // Ask before events are sent, so that the lines below handle whatever workers had posted by then.
    if (!QThreadPool::globalInstance()->waitForDone(0)) quiet = -1;
    QApplication::processEvents(QEventLoop::AllEvents, 5);
    // A turn of the event loop may leave some posted events to the next turn, including layout requests.
    QApplication::sendPostedEvents();
  }
}

}  // namespace draftscope::gui
