// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Paths as users give them: files and folders, once or several times, and names for files to be written.

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

}  // namespace draftscope::gui
