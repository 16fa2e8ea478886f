// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads the times of one run by layer and operation on a worker, when a view first asks for them.

#include "data/rounds/detailed_times.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class DetailedTimesReader : public QObject {
  Q_OBJECT

 public:
  explicit DetailedTimesReader(QObject* parent = nullptr) : QObject(parent) {}

  /// Reads this run from now on and forgets the one before. Null reads none.
  void set_run(RecordingPointer recording, std::size_t run_index);
  /// Times that have been read; null before that. The first call starts reading, and changed() reports its
  /// end.
  [[nodiscard]] const DetailedTimes* times();
  /// Times read so far, or null; starts no reading.
  [[nodiscard]] const DetailedTimes* read_times() const { return times_.get(); }
  /// One line if reading failed, else empty.
  [[nodiscard]] const QString& problem() const { return problem_; }

 signals:
  void changed();

 private:
  void read();

  RecordingPointer recording_;
  std::size_t run_ = 0;
  std::shared_ptr<const DetailedTimes> times_;
  QString problem_;
  BackgroundJob job_;
};

}  // namespace draftscope::gui
