// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs the command `draftscope` as a process: finds and starts it, and reports why it failed. The app itself
// decodes nothing.

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <cstdint>

#include "record/form/plan_problems.h"

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

/// Asks `draftscope inspect` about a model, in a process, so that the app need not read any kind of
/// checkpoint. Use it on the main thread only.
class ModelInspector : public QObject {
  Q_OBJECT

 public:
  explicit ModelInspector(QObject* parent = nullptr) : QObject(parent) {}
  /// Cancels what is under way.
  ~ModelInspector() override;

  /// Asks about a model, and cancels the question before.
  void inspect(const QString& program, const QString& model);
  void cancel();
  [[nodiscard]] bool is_running() const { return process_ != nullptr; }

 signals:
  void found(const draftscope::gui::ModelFacts& facts);
  /// Emitted with one line: why it is not a model.
  void failed(const QString& reason);

 private:
  void take();

  QProcess* process_ = nullptr;
};

// `draftscope record` as a process: it is started, its output is read, and it is stopped as by Ctrl-C, so
// that it closes its recording. Use it on the main thread only; only the destructor waits.

enum class RecorderEnd : std::uint8_t {
  complete,  ///< The recorder recorded everything.
  stopped,   ///< The recorder stopped as it was asked to.
  failed,    ///< The recorder failed; only committed data remains.
};

class RecorderProcess : public QObject {
  Q_OBJECT

 public:
  explicit RecorderProcess(QObject* parent = nullptr);
  /// Stops the recorder, waits briefly for it to close its recording, and then kills it.
  ~RecorderProcess() override;

  /// Call it only while none runs.
  void start(const QString& program, const QStringList& arguments);
  /// Asks the recorder to close its recording and end; a second call kills it at once.
  void stop();
  [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }
  [[nodiscard]] bool is_stopping() const { return is_stopping_; }
  [[nodiscard]] qint64 process_id() const { return process_.processId(); }

 signals:
  void said(const QString& line);
  /// `reason` is one line, empty unless it failed.
  void ended(draftscope::gui::RecorderEnd end, const QString& reason);

 private:
  void read_lines();
  void take_line(const QByteArray& line);
  void finish();

  QProcess process_;
  QByteArray rest_;    ///< Beginning of an incomplete line.
  QStringList lines_;  ///< Last lines of its output.
  bool is_stopping_ = false;
};

}  // namespace draftscope::gui
