// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The way of the tour through a recording: five questions, and where each is answered.

#include <QString>
#include <vector>

namespace draftscope::gui {

struct TourStep {
  QString title;     ///< the question
  QString words;     ///< what is seen, and how to read it
  QString view;      ///< name of the view that is shown; empty for the menus
  QString strategy;  ///< Specification whose run is chosen; empty to leave it.
  QString marked;    ///< accessible name of what is marked in the view; empty for all of it
};

[[nodiscard]] const std::vector<TourStep>& tour_steps();

}  // namespace draftscope::gui
