// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads the decisions of the shown recording on a worker, when a view first asks for them.

#include "data/decisions/decision_history.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class DecisionsReader : public QObject {
  Q_OBJECT

 public:
  using History = std::shared_ptr<const DecisionHistory>;

  explicit DecisionsReader(QObject* parent = nullptr) : QObject(parent) {}

  /// Reads this recording from now on and forgets the one before. Null reads none.
  void set_recording(const RecordingPointer& recording);
  /// Decisions that have been read; null before that. The first call starts reading, and changed() reports
  /// its end.
  [[nodiscard]] History history();
  /// Decisions read so far, or null; starts no reading.
  [[nodiscard]] const History& read_history() const { return history_; }
  /// One line if reading failed, else empty.
  [[nodiscard]] const QString& problem() const { return problem_; }

 signals:
  void changed();

 private:
  RecordingPointer recording_;
  History history_;
  QString problem_;
  BackgroundJob job_;
};

}  // namespace draftscope::gui
