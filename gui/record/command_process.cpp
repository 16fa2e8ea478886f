// SPDX-License-Identifier: GPL-3.0-or-later
#include "command_process.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <csignal>
#include <cstring>
#include <utility>

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

void ModelInspector::inspect(const QString& program, const QString& model) {
  cancel();
  process_ = new QProcess(this);
  connect(process_, &QProcess::finished, this, &ModelInspector::take);
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) take();
  });
  start_command(*process_, program, {QStringLiteral("inspect"), model, QStringLiteral("--json")});
}

void ModelInspector::cancel() {
  if (process_ == nullptr) return;
  process_->disconnect(this);
  // The process is deleted when it has ended, since waiting for that would block the window.
  connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
  if (process_->state() == QProcess::NotRunning)
    process_->deleteLater();
  else
    process_->kill();
  process_ = nullptr;
}

ModelInspector::~ModelInspector() {
  for (QProcess* process : findChildren<QProcess*>()) {
    process->disconnect();
    process->kill();
    process->waitForFinished();
  }
}

void ModelInspector::take() {
  const QByteArray json = process_->readAllStandardOutput();
  const QStringList lines =
      QString::fromUtf8(process_->readAllStandardError()).split(u'\n', Qt::SkipEmptyParts);
  const bool is_fine = process_->error() != QProcess::FailedToStart &&
                       process_->exitStatus() == QProcess::NormalExit && process_->exitCode() == 0;
  const QString problem = is_fine ? QString() : failure_text(*process_, lines);
  process_->deleteLater();
  process_ = nullptr;
  if (!is_fine) {
    emit failed(problem);
    return;
  }
  const auto facts = model_facts_of({json.constData(), static_cast<std::size_t>(json.size())});
  if (facts)
    emit found(*facts);
  else
    emit failed(QString::fromStdString(facts.error().message));
}

namespace {

constexpr qsizetype max_lines = 100;
constexpr qsizetype max_line_bytes = 4096;
constexpr int closing_ms = 5000;

}  // namespace

RecorderProcess::RecorderProcess(QObject* parent) : QObject(parent) {
  process_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&process_, &QProcess::readyReadStandardOutput, this, &RecorderProcess::read_lines);
  connect(&process_, &QProcess::finished, this, &RecorderProcess::finish);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    // After all other errors the process ends, and finish() is called then.
    if (error == QProcess::FailedToStart) finish();
  });
}

RecorderProcess::~RecorderProcess() {
  process_.disconnect(this);
  if (!is_running()) return;
  if (!is_stopping_) stop();
  process_.waitForFinished(closing_ms);
  process_.kill();
  process_.waitForFinished(closing_ms);
}

void RecorderProcess::start(const QString& program, const QStringList& arguments) {
  rest_.clear();
  lines_.clear();
  is_stopping_ = false;
  start_command(process_, program, arguments);
}

void RecorderProcess::stop() {
  if (!is_running()) return;
  if (is_stopping_ || process_.processId() <= 0)
    process_.kill();
  else
    ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
  is_stopping_ = true;
}

void RecorderProcess::read_lines() {
  rest_ += process_.readAllStandardOutput();
  for (qsizetype end = rest_.indexOf('\n'); end >= 0; end = rest_.indexOf('\n')) {
    take_line(rest_.left(end));
    rest_.remove(0, end + 1);
  }
  if (rest_.size() > max_line_bytes) take_line(std::exchange(rest_, {}));
}

void RecorderProcess::take_line(const QByteArray& line) {
  const QString text = QString::fromUtf8(line).trimmed();
  if (text.isEmpty()) return;
  lines_ << text;
  if (lines_.size() > max_lines) lines_.removeFirst();
  emit said(text);
}

void RecorderProcess::finish() {
  read_lines();
  take_line(std::exchange(rest_, {}));
  constexpr int signal_exit_base = 128;
  const bool by_signal = process_.exitStatus() == QProcess::CrashExit;
  const int code = process_.exitCode();
  const bool has_started = process_.error() != QProcess::FailedToStart;
  if (has_started && !by_signal && code == 0)
    emit ended(RecorderEnd::complete, {});
  else if (has_started && is_stopping_ && (by_signal || code == signal_exit_base + SIGINT))
    emit ended(RecorderEnd::stopped, {});
  else
    emit ended(RecorderEnd::failed, failure_text(process_, lines_));
}

}  // namespace draftscope::gui
