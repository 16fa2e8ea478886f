// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that were given to be opened, one after another in their order: folders give way to the recordings in
// them, the first recording that can be read is the one to show, and what can't be opened is said and passed
// over.
//
// On the main thread only.

#include <QObject>
#include <QStringList>

#include "state/recording_loader.h"

namespace draftscope::gui {

class OpenQueue : public QObject {
  Q_OBJECT

 public:
  explicit OpenQueue(QObject* parent = nullptr);

  /// Files, and folders for the recordings in them, in place of what was being opened.
  void open(const QStringList& paths);
  /// One file again, in place of what was being opened. `is_preview_wanted` where only its overview was read
  /// so far: what has its rows stays until all of the new ones are there.
  void reload(const QString& path, bool is_preview_wanted);
  /// Gives up what is being opened, and what was to follow it.
  void cancel();
  /// Gives up only what is being opened; what waits goes on.
  void skip() { loader_.cancel(); }

  [[nodiscard]] RecordingLoader& loader() { return loader_; }

 signals:
  /// The file is the `place`-th of `all`, from 1.
  void began(const QString& path, qsizetype place, qsizetype all);
  void progressed(qint64 done, qint64 all);
  /// An overview, or a recording with its rows. `is_first`: none with rows was read before it.
  void read(const draftscope::gui::RecordingPointer& recording,
            const std::shared_ptr<const draftscope::gui::Timeline>& timeline, bool is_first);
  /// One line: what can't be opened, and why.
  void failed(const QString& reason);
  /// Nothing waits any more.
  void ended();

 private:
  void start(const QStringList& files, bool is_first);
  void open_next();
  void take(const RecordingPointer& recording, const std::shared_ptr<const Timeline>& timeline);

  RecordingLoader loader_;
  QStringList waiting_;
  qsizetype begun_ = 0;  ///< files of the last start()
  bool is_first_ = true;
};

}  // namespace draftscope::gui
