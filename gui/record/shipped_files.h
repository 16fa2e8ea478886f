// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models and prompts that ship with the program: beside it in a build tree, or where it is installed.

#include <QStringList>

namespace draftscope::gui {

/// Folders of the demo checkpoints.
[[nodiscard]] QStringList shipped_models();

/// Prompt files.
[[nodiscard]] QStringList shipped_prompts();

}  // namespace draftscope::gui
