// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QScrollArea;
class QWidget;

namespace draftscope::gui {

/// An area that scrolls where the room is too small, so that nothing makes the window larger. Takes
/// ownership.
[[nodiscard]] QScrollArea* scrollable(QWidget* view);

}  // namespace draftscope::gui
