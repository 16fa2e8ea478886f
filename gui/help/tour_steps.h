// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The steps of the tour through a recording: five questions, and where each is answered.

#include <QString>
#include <vector>

namespace draftscope::gui {

struct TourStep {
  QString title;     ///< The question.
  QString words;     ///< Explains what is visible, and how to read it.
  QString view;      ///< Name of the view that is shown; empty for the menus.
  QString strategy;  ///< Specification of the run to choose; empty = unchanged.
  QString marked;    ///< Accessible name of the marked part of the view; empty for all of it.
};

[[nodiscard]] const std::vector<TourStep>& tour_steps();

}  // namespace draftscope::gui
