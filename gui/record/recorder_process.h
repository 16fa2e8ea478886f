// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope record` as a process: started, listened to, and asked to stop as Ctrl-C does, so that it closes
// its recording. On the main thread only; nothing here waits but the destructor.

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <cstdint>

namespace draftscope::gui {

enum class RecorderEnd : std::uint8_t {
  complete,  ///< all was recorded
  stopped,   ///< It stopped as it was asked to.
  failed,    ///< what there is of the recording is what was committed
};

class RecorderProcess : public QObject {
  Q_OBJECT

 public:
  explicit RecorderProcess(QObject* parent = nullptr);
  /// Stops it, waits a little for it to close its recording, and then ends it.
  ~RecorderProcess() override;

  /// Only while none runs.
  void start(const QString& program, const QStringList& arguments);
  /// The first time asks it to close its recording and end; the second time ends it at once.
  void stop();
  [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }
  [[nodiscard]] bool is_stopping() const { return is_stopping_; }
  [[nodiscard]] qint64 process_id() const { return process_.processId(); }

 signals:
  void said(const QString& line);
  /// `reason`: one line, empty unless it failed.
  void ended(draftscope::gui::RecorderEnd end, const QString& reason);

 private:
  void read_lines();
  void take_line(const QByteArray& line);
  void finish();

  QProcess process_;
  QByteArray rest_;    ///< Beginning of a line that is not whole yet.
  QStringList lines_;  ///< the last ones that it said
  bool is_stopping_ = false;
};

}  // namespace draftscope::gui
