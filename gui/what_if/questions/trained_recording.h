// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording that what-ifs can be asked about: costs fitted, shadow tokens read. Made once by a worker,
// immutable for those who use it; questions may come from several threads at once.
//
// An imported recording has no times that costs could be fitted to: they are the specifications' of the GPU
// and the model that a question names, and nothing can be answered before both are known.

#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/what_if.h>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/opened_recording.h"
#include "what_if/questions/question.h"

namespace draftscope::gui {

using WhatIfPointer = std::shared_ptr<const simulator::WhatIf>;

/// A recorded run that one exit layer and one length describe: a place in the heat map.
struct RecordedPoint {
  std::string strategy;
  std::int32_t exit = 0;
  std::int32_t gamma = 0;
  bool verifies_above_exit = false;
};

class TrainedRecording {
 public:
  /// `recorded_gpu` by name, or empty. `progress` as WhatIfOptions has it. Errors, one line: an imported
  /// timeline or a predicted recording, one without vanilla decoding to gain over or without costs, each with
  /// what to record instead; an unknown GPU; stopped.
  [[nodiscard]] static Result<std::shared_ptr<const TrainedRecording>> train(
      RecordingPointer recording, const std::string& recorded_gpu = {},
      std::function<bool(std::int64_t, std::int64_t)> progress = {});

  /// Model that answers the question. Of an imported recording it is made for the question's machine and
  /// model, and kept for the next. Errors: choices that are still missing; an unknown GPU or model.
  [[nodiscard]] Result<WhatIfPointer> what_if(const Question& question) const;

  [[nodiscard]] const traces::Recording& recording() const { return opened_->recording(); }
  [[nodiscard]] const RecordingPointer& opened() const { return opened_; }
  [[nodiscard]] bool is_imported() const { return what_if_ == nullptr; }
  [[nodiscard]] const std::string& recorded_gpu() const { return recorded_gpu_; }

  /// Absent where an imported file does not name a model whose shape is known.
  [[nodiscard]] const std::optional<simulator::ModelShape>& recorded_shape() const { return shape_; }
  /// Absent of an imported recording: the question's, or bf16.
  [[nodiscard]] std::optional<simulator::WeightType> recorded_weights() const;
  /// Layers of the model whose exits are asked about: the recorded one, or of an imported recording the
  /// question's. Absent before that is chosen.
  [[nodiscard]] std::optional<std::int32_t> n_layers(const Question& question) const;

  /// Recorded runs that draft, each specification once.
  [[nodiscard]] const std::vector<std::string>& strategies() const { return strategies_; }
  [[nodiscard]] const std::vector<RecordedPoint>& points() const { return points_; }
  /// Measurements of its runs, to hold predictions to; none of an imported recording, which has no times.
  [[nodiscard]] const std::vector<simulator::MeasuredSetting>& measured() const { return measured_; }
  /// About a recorded run as it was, with the other choices where it stood.
  [[nodiscard]] Question question_of(const std::string& strategy) const;
  /// About the run of this specification if that drafts, else about another, or an early exit.
  [[nodiscard]] Question first_question(const std::string& shown) const;
  /// Why early exits that were not recorded have no exact answer; empty if they have.
  [[nodiscard]] const std::string& no_replay_reason() const { return no_replay_reason_; }

 private:
  /// Prices of an imported recording, and the question that specified them.
  struct Specified {
    Question by;
    WhatIfPointer what_if;
  };

  TrainedRecording(RecordingPointer opened, std::string recorded_gpu)
      : opened_(std::move(opened)), recorded_gpu_(std::move(recorded_gpu)) {}
  void list_runs();
  [[nodiscard]] std::string missing_choices(const Question& question) const;

  RecordingPointer opened_;
  std::string recorded_gpu_;
  WhatIfPointer what_if_;  // null of an imported recording
  std::optional<simulator::ModelShape> shape_;
  std::vector<std::string> strategies_;
  std::vector<RecordedPoint> points_;
  std::vector<simulator::MeasuredSetting> measured_;
  std::string no_replay_reason_;
  mutable std::mutex mutex_;
  mutable Specified specified_;  // of the last question
};

using TrainedPointer = std::shared_ptr<const TrainedRecording>;

}  // namespace draftscope::gui
