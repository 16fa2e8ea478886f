// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Waiting for a window that reads on workers.

#include <QApplication>
#include <QThreadPool>

namespace draftscope::gui {

/// Until workers are done, what they found is shown, and nothing that this began is under way.
inline void settle() {
  constexpr int quiet_turns = 3;
  for (int quiet = 0; quiet < quiet_turns; ++quiet) {
    // Asked before events are sent: what workers posted until then is taken up below.
    if (!QThreadPool::globalInstance()->waitForDone(0)) quiet = -1;
    QApplication::processEvents(QEventLoop::AllEvents, 5);
    // A turn of the event loop may leave some posted events, those that lay out again among them, to the
    // next.
    QApplication::sendPostedEvents();
  }
}

}  // namespace draftscope::gui
