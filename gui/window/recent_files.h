// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings that were opened last, in the user's settings, the latest first.

#include <QStringList>

namespace draftscope::gui {

[[nodiscard]] QStringList recent_files();
/// Moves the file to the front; drops the oldest if there are more than ten.
void add_recent_file(const QString& path);
void remove_recent_file(const QString& path);
void clear_recent_files();

}  // namespace draftscope::gui
