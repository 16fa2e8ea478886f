// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Paths as users give them: files and folders, once or several times, and names for files to be written. Also
// models, prompts and documents that ship with the program, in the source tree of a build or in the
// installation; and the recordings that were opened last.

#include <draftscope/base/result.h>

#include <QLabel>
#include <QMimeData>
#include <QStringList>
#include <functional>
#include <string>

namespace draftscope::gui {

struct PathsToOpen {
  QStringList files;     ///< Absolute paths, each once.
  QStringList problems;  ///< One line per folder without recordings.
};

/// Replaces folders by the recordings in them, in the order of their names.
[[nodiscard]] PathsToOpen paths_to_open(const QStringList& paths);

/// Local files and folders among the dragged data.
[[nodiscard]] QStringList dropped_paths(const QMimeData& data);

/// The path, with the ending of the chosen file type ("PNG (*.png)") if it has no ending.
[[nodiscard]] QString with_ending(const QString& path, const QString& file_type);

/// A shipped folder, by its name in the installation and its name in the source tree; empty if it is in
/// neither.
[[nodiscard]] QString shipped_folder(const QString& name, const QString& source);

/// Folders of the demo checkpoints.
[[nodiscard]] QStringList shipped_models();

/// Prompt files.
[[nodiscard]] QStringList shipped_prompts();

/// Recordings that were opened last, in the user's settings, the latest first.
[[nodiscard]] QStringList recent_files();
/// Moves the file to the front; drops the oldest if there are more than ten.
void add_recent_file(const QString& path);
void remove_recent_file(const QString& path);
void clear_recent_files();

/// Saves a policy to a file that it asks for, on a worker, because it hashes all bytes of its recording.
/// `write` is called on a worker, and must own what it reads. `words` shows the outcome, unless the label has
/// been deleted by then.
void save_policy(QLabel& words, std::function<Result<void>(const std::string& path)> write);

}  // namespace draftscope::gui
