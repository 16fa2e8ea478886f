// SPDX-License-Identifier: GPL-3.0-or-later
#include "command_process.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <csignal>
#include <cstring>

namespace draftscope::gui {

namespace {

constexpr QLatin1String command_name("draftscope");

QString words(const char* text) {
  return QCoreApplication::translate("Record", text);
}

}  // namespace

QString find_command() {
  const QDir program(QCoreApplication::applicationDirPath());
  for (const QString& place :
       {QString(command_name), QStringLiteral("../cli/draftscope"), QStringLiteral("../../cli/draftscope")}) {
    const QFileInfo file(program.filePath(place));
    if (file.isFile() && file.isExecutable()) return file.canonicalFilePath();
  }
  return QStandardPaths::findExecutable(command_name);
}

QString no_command_text() {
  return words("draftscope: found neither beside the app (%1) nor in PATH, expected the command that records")
      .arg(QCoreApplication::applicationDirPath());
}

void start_command(QProcess& process, const QString& program, const QStringList& arguments) {
  process.setProgram(program);
  process.setArguments(arguments);
  process.setStandardInputFile(QProcess::nullDevice());
  process.setChildProcessModifier([] {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  });
  process.start();
}

QString failure_text(const QProcess& process, const QStringList& lines) {
  if (process.error() == QProcess::FailedToStart)
    return words("%1: can't be started: %2").arg(process.program(), process.errorString());
  const bool is_killed = process.exitStatus() == QProcess::CrashExit;
  QString ending = is_killed ? words("draftscope was ended by signal %1 (%2)")
                                   .arg(process.exitCode())
                                   .arg(QString::fromUtf8(::strsignal(process.exitCode())))
                             : words("draftscope ended with exit code %1").arg(process.exitCode());
  const QString prefix = QString(command_name) + QStringLiteral(": ");
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (line->startsWith(prefix)) return line->mid(prefix.size());
  // Progress and hints do not explain why the process was killed.
  if (is_killed || lines.isEmpty()) return ending;
  return lines.back();
}

}  // namespace draftscope::gui
