// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sizes of the timeline's parts, in pixels.

namespace draftscope::gui {

inline constexpr int axis_height = 24;
inline constexpr int first_header_width = 190;
inline constexpr int min_header_width = 60;
inline constexpr int header_step = 20;

}  // namespace draftscope::gui
