// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models, prompts and documents that ship with the program: beside it in a build tree, or where it is
// installed.

#include <QStringList>

namespace draftscope::gui {

/// A shipped folder, by its name where it is installed and its name in the source tree; empty if it is in
/// neither.
[[nodiscard]] QString shipped_folder(const QString& name, const QString& source);

/// Folders of the demo checkpoints.
[[nodiscard]] QStringList shipped_models();

/// Prompt files.
[[nodiscard]] QStringList shipped_prompts();

}  // namespace draftscope::gui
