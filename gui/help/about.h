// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the program is: its version, licence, and what it is made with.

#include <QString>

namespace draftscope::gui {

/// HTML.
[[nodiscard]] QString about_text();

}  // namespace draftscope::gui
