// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording that what-ifs can be asked about: costs fitted, shadow tokens read. Made once by a worker,
// immutable then; questions may come from several threads at once.

#include <draftscope/simulator/what_if.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/opened_recording.h"
#include "what_if/question.h"

namespace draftscope::gui {

/// A recorded run that one exit layer and one length describe: a place in the heat map.
struct RecordedPoint {
  std::string strategy;
  std::int32_t exit = 0;
  std::int32_t gamma = 0;
  bool verifies_above_exit = false;
};

class LearntRecording {
 public:
  /// `progress` as WhatIfOptions has it. Errors, one line: an imported or predicted recording, one without
  /// vanilla decoding to gain over or without costs, each with what to record instead; stopped.
  [[nodiscard]] static Result<std::shared_ptr<const LearntRecording>> learn(
      RecordingPointer recording, std::function<bool(std::int64_t, std::int64_t)> progress = {});

  [[nodiscard]] const simulator::WhatIf& what_if() const { return what_if_; }
  [[nodiscard]] const traces::Recording& recording() const { return opened_->recording(); }
  [[nodiscard]] const RecordingPointer& opened() const { return opened_; }

  [[nodiscard]] std::int32_t n_layers() const { return what_if_.costs().model.shape.n_layers; }
  /// Recorded runs that draft, each specification once.
  [[nodiscard]] const std::vector<std::string>& strategies() const { return strategies_; }
  [[nodiscard]] const std::vector<RecordedPoint>& points() const { return points_; }
  /// About a recorded run as it was, with the other choices where it stood.
  [[nodiscard]] Question question_of(const std::string& strategy) const;
  /// Why early exits that were not recorded have no answer; empty if they have.
  [[nodiscard]] const std::string& no_replay_reason() const { return no_replay_reason_; }

 private:
  LearntRecording(RecordingPointer opened, simulator::WhatIf what_if)
      : opened_(std::move(opened)), what_if_(std::move(what_if)) {}
  void list_runs();

  RecordingPointer opened_;
  simulator::WhatIf what_if_;
  std::vector<std::string> strategies_;
  std::vector<RecordedPoint> points_;
  std::string no_replay_reason_;
};

using LearntPointer = std::shared_ptr<const LearntRecording>;

}  // namespace draftscope::gui
