// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Paths as users give them: files and folders, once or several times, and names for files to be written.
// Models, prompts and documents that ship with the program: beside it in a build tree, or where it is
// installed.

#include <QMimeData>
#include <QStringList>

namespace draftscope::gui {

struct PathsToOpen {
  QStringList files;     ///< absolute, each once
  QStringList problems;  ///< a line for each folder without recordings
};

/// Folders give way to the recordings in them, in the order of their names.
[[nodiscard]] PathsToOpen paths_to_open(const QStringList& paths);

/// Local files and folders among what is dragged.
[[nodiscard]] QStringList dropped_paths(const QMimeData& data);

/// The path with the ending that the chosen file type stands for ("PNG (*.png)"), if it has none of its own.
[[nodiscard]] QString with_ending(const QString& path, const QString& file_type);

/// A shipped folder, by its name where it is installed and its name in the source tree; empty if it is in
/// neither.
[[nodiscard]] QString shipped_folder(const QString& name, const QString& source);

/// Folders of the demo checkpoints.
[[nodiscard]] QStringList shipped_models();

/// Prompt files.
[[nodiscard]] QStringList shipped_prompts();

}  // namespace draftscope::gui
