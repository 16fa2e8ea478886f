// SPDX-License-Identifier: GPL-3.0-or-later
#include "recorder_process.h"

#include <csignal>
#include <utility>

#include "record/command_process.h"

namespace draftscope::gui {

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
