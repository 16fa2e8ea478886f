// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording that what-ifs can be asked about: costs are fitted, and shadow tokens are read. A worker makes
// it once. It is immutable to its users, so several threads may ask questions at once.
//
// An imported recording has no times to fit costs to. Its costs come from the specifications of the GPU and
// the model that a question names; nothing can be answered before both are known.

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

/// A recorded run that one exit layer and one length describe: a point in the heat map.
struct RecordedPoint {
  std::string strategy;
  std::int32_t exit = 0;
  std::int32_t gamma = 0;
  bool verifies_above_exit = false;
};

class TrainedRecording {
 public:
  /// Learns from a recording. `recorded_gpu` is a name, or empty; `progress` is as in WhatIfOptions. Errors,
  /// one line each with what to record instead: an imported timeline or a predicted recording; no vanilla
  /// decoding to compare with; no costs. Also an unknown GPU, and stopped.
  [[nodiscard]] static Result<std::shared_ptr<const TrainedRecording>> train(
      RecordingPointer recording, const std::string& recorded_gpu = {},
      std::function<bool(std::int64_t, std::int64_t)> progress = {});

  /// Model that answers the question. For an imported recording it is made for the question's machine and
  /// model, and cached for the next question. Errors: missing choices; an unknown GPU or model.
  [[nodiscard]] Result<WhatIfPointer> what_if(const Question& question) const;

  [[nodiscard]] const traces::Recording& recording() const { return opened_->recording(); }
  [[nodiscard]] const RecordingPointer& opened() const { return opened_; }
  [[nodiscard]] bool is_imported() const { return what_if_ == nullptr; }
  [[nodiscard]] const std::string& recorded_gpu() const { return recorded_gpu_; }
  /// GPU that the costs were learnt on: the stated one, or the one that the driver's name says.
  [[nodiscard]] std::optional<simulator::GpuSpecification> recorded_on() const;
  /// GPU that the driver's name says; empty for any other recording.
  [[nodiscard]] std::string known_gpu() const;

  /// Shape of the recorded model; absent if an imported file names no model with a known shape.
  [[nodiscard]] const std::optional<simulator::ModelShape>& recorded_shape() const { return shape_; }
  /// Absent for an imported recording, which uses the question's weights, or bf16.
  [[nodiscard]] std::optional<simulator::WeightType> recorded_weights() const;
  /// Layers of the model that the question is about: the recorded one, or for an imported recording the
  /// question's. Absent before that is chosen.
  [[nodiscard]] std::optional<std::int32_t> n_layers(const Question& question) const;

  /// Recorded runs that draft, each specification once.
  [[nodiscard]] const std::vector<std::string>& strategies() const { return strategies_; }
  [[nodiscard]] const std::vector<RecordedPoint>& points() const { return points_; }
  /// Measured runs to compare predictions with; empty for an imported recording, which has no times.
  [[nodiscard]] const std::vector<simulator::MeasuredSetting>& measured() const { return measured_; }
  /// Question about a recorded run as it was, with the sliders at its settings.
  [[nodiscard]] Question question_of(const std::string& strategy) const;
  /// Question about the run of this specification if it drafts, else about another run, or an early exit.
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
  WhatIfPointer what_if_;  // Null for an imported recording.
  std::optional<simulator::ModelShape> shape_;
  std::vector<std::string> strategies_;
  std::vector<RecordedPoint> points_;
  std::vector<simulator::MeasuredSetting> measured_;
  std::string no_replay_reason_;
  mutable std::mutex mutex_;
  mutable Specified specified_;  // Prices of the last question.
};

using TrainedPointer = std::shared_ptr<const TrainedRecording>;

}  // namespace draftscope::gui
