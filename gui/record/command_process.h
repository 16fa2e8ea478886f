// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs the command `draftscope` as a process: finds and starts it, and reports why it failed. The app itself
// decodes nothing.

#include <QProcess>
#include <QString>
#include <QStringList>

namespace draftscope::gui {

/// Path of the command: beside the app's own program, in the build tree of both, or in PATH. Empty if it is
/// in none of them.
[[nodiscard]] QString find_command();

/// Line that says where find_command() has looked.
[[nodiscard]] QString no_command_text();

/// Starts the command with default signal handling, since an app started in the background of a script
/// ignores some signals.
void start_command(QProcess& process, const QString& program, const QStringList& arguments);

/// Why an ended process failed, in one line. It is the last error in `lines`, which the process printed; else
/// the last line; else how the process ended.
[[nodiscard]] QString failure_text(const QProcess& process, const QStringList& lines);

}  // namespace draftscope::gui
