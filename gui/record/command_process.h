// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The command `draftscope` as a process of its own: where it is, how it starts, and what it said when it
// failed. The app decodes nothing itself.

#include <QProcess>
#include <QString>
#include <QStringList>

namespace draftscope::gui {

/// The command beside the app's own program, in the build tree that both come from, or in PATH; empty if it
/// is in none of them.
[[nodiscard]] QString find_command();

/// The line that says where find_command() has looked.
[[nodiscard]] QString no_command_text();

/// Starts it. A signal that the app ignores, as one started in the background of a script does, is not
/// ignored by the command.
void start_command(QProcess& process, const QString& program, const QStringList& arguments);

/// Why an ended process failed, in one line: what it said last of an error, else its last line, else how it
/// ended. `lines` are what it said.
[[nodiscard]] QString failure_text(const QProcess& process, const QStringList& lines);

}  // namespace draftscope::gui
