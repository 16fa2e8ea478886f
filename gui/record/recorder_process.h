// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope record` as a process: it is started, its output is read, and it is stopped as by Ctrl-C, so
// that it closes its recording. Use it on the main thread only; only the destructor waits.

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <cstdint>

namespace draftscope::gui {

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
