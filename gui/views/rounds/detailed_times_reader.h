// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The times by layer and operation of one run, read on a worker when a view first asks for them.

#include "data/rounds/detailed_times.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class DetailedTimesReader : public QObject {
  Q_OBJECT

 public:
  explicit DetailedTimesReader(QObject* parent = nullptr) : QObject(parent) {}

  /// Reads this run from now on; forgets another's. Null reads none.
  void set_run(RecordingPointer recording, std::size_t run_index);
  /// Times that have been read; null before that. The first call starts reading, and changed() tells its end.
  [[nodiscard]] const DetailedTimes* times();
  /// The same without starting anything.
  [[nodiscard]] const DetailedTimes* read_times() const { return times_.get(); }
  /// One line if reading failed, else empty.
  [[nodiscard]] const QString& problem() const { return problem_; }
  [[nodiscard]] bool is_reading() const { return job_.is_running(); }

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
