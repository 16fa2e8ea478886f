// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opens the given files one after another, in their order. A folder stands for the recordings in it. The
// first recording that can be read is shown; a file that can't be opened is reported and skipped.
//
// Everything here runs on the main thread only.

#include <QObject>
#include <QStringList>

#include "state/recording_loader.h"

namespace draftscope::gui {

class OpenQueue : public QObject {
  Q_OBJECT

 public:
  explicit OpenQueue(QObject* parent = nullptr);

  /// Opens files, and the recordings in folders. Cancels what was being opened.
  void open(const QStringList& paths);
  /// Opens one file again, and cancels what was being opened. Pass `is_preview_wanted` if only its overview
  /// has been read so far. A recording whose rows are loaded stays until all new rows are there.
  void reload(const QString& path, bool is_preview_wanted);
  /// Cancels the file that is being opened and those that wait.
  void cancel();
  /// Cancels only the file that is being opened; waiting files go on.
  void skip() { loader_.cancel(); }

  [[nodiscard]] RecordingLoader& loader() { return loader_; }

 signals:
  /// The file is the `place`-th of `all`, counted from 1.
  void began(const QString& path, qsizetype place, qsizetype all);
  void progressed(qint64 done, qint64 all);
  /// Emitted for an overview and for a recording with its rows. `is_first`: none with rows was read before
  /// it.
  void read(const draftscope::gui::RecordingPointer& recording,
            const std::shared_ptr<const draftscope::gui::Timeline>& timeline, bool is_first);
  /// Emitted with one line: which file can't be opened, and why.
  void failed(const QString& reason);
  /// Emitted when no file waits any more.
  void ended();

 private:
  void start(const QStringList& files, bool is_first);
  void open_next();
  void take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline);

  RecordingLoader loader_;
  QStringList waiting_;
  qsizetype begun_ = 0;  ///< files begun since the last start()
  bool is_first_ = true;
};

}  // namespace draftscope::gui
