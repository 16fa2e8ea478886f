// SPDX-License-Identifier: GPL-3.0-or-later
#include "decisions_reader.h"

namespace draftscope::gui {

void DecisionsReader::set_recording(const RecordingPointer& recording) {
  if (recording == recording_) return;
  job_.cancel();
  recording_ = recording;
  history_.reset();
  problem_.clear();
}

DecisionsReader::History DecisionsReader::history() {
  if (history_ || !problem_.isEmpty() || !recording_ || !recording_->has_rows() || job_.is_running())
    return history_;
  job_.start(read_and_take(
      [recording = recording_](const auto& should_continue) {
        return read_decision_history(recording, should_continue);
      },
      [this](Result<DecisionHistory> read) {
        problem_ = read ? QString() : QString::fromStdString(read.error().message);
        history_ = read ? std::make_shared<const DecisionHistory>(*std::move(read)) : nullptr;
        emit changed();
      }));
  return history_;
}

}  // namespace draftscope::gui
