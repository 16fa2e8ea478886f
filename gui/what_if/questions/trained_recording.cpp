// SPDX-License-Identifier: GPL-3.0-or-later
#include "trained_recording.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/published_models.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

/// Errors: why the recording can't be trained on, and what to record instead.
Result<void> check(const traces::Recording& recording) {
  const std::string name = recording.path.filename().string();
  DRAFTSCOPE_TRY(simulator::check_can_be_asked(recording, name));
  return traces::is_imported(recording.meta) ? Result<void>() : simulator::check_has_vanilla(recording, name);
}

/// Whether both specify the same prices for an imported recording.
bool are_specified_alike(const Question& a, const Question& b) {
  return a.gpu == b.gpu && a.machine_file == b.machine_file && a.model == b.model && a.weights == b.weights;
}

/// GPU whose specification a question names; absent if it names none.
Result<std::optional<simulator::GpuSpecification>> specified_gpu(const Question& question) {
  if (question.machine_file != nullptr) return question.machine_file->gpu;
  if (question.gpu.empty()) return std::nullopt;
  return simulator::find_gpu(question.gpu).map([](simulator::GpuSpecification gpu) {
    return std::optional(std::move(gpu));
  });
}

}  // namespace

Result<TrainedPointer> TrainedRecording::train(RecordingPointer recording, const std::string& recorded_gpu,
                                               std::function<bool(std::int64_t, std::int64_t)> progress) {
  DRAFTSCOPE_TRY(check(recording->recording()));
  std::shared_ptr<TrainedRecording> trained(new TrainedRecording(std::move(recording), recorded_gpu));
  const traces::Recording& opened = trained->recording();
  if (traces::is_imported(opened.meta)) {
    if (auto shape = speculation::find_model_shape(simulator::meta_value(opened.meta, "model")))
      trained->shape_ = *std::move(shape);
    trained->no_replay_reason_ = "imported: acceptance is modelled";
  } else {
    simulator::WhatIfOptions options;
    options.progress = std::move(progress);
    if (!recorded_gpu.empty()) {
      DRAFTSCOPE_TRY_ASSIGN(options.recorded_on, simulator::find_gpu(recorded_gpu));
    }
    DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(opened.path));
    auto what_if = simulator::WhatIf::train(reader, opened, options);
    if (!what_if) return fail("{}: {}", trained->opened_->name(), what_if.error().message);
    what_if->fit_acceptance();  // Sliders must not wait for it.
    trained->what_if_ = std::make_shared<const simulator::WhatIf>(*std::move(what_if));
    trained->shape_ = trained->what_if_->costs().model.shape;
    trained->no_replay_reason_ = trained->what_if_->no_replay_reason();
    trained->measured_ = simulator::measured_settings(trained->opened_->recording());
  }
  trained->list_runs();
  return TrainedPointer(std::move(trained));
}

std::string TrainedRecording::missing_choices(const Question& question) const {
  const bool has_gpu = !question.gpu.empty() || (question.machine_file && question.machine_file->gpu);
  const bool has_model = !question.model.empty() || shape_;
  const std::string named = simulator::meta_value(recording().meta, "model");
  const std::string gpu = "a GPU (a file of answers has no times that costs could be learnt from)";
  const std::string model =
      named.empty() ? "a model (the file names none)"
                    : fmt::format("a model (the file names \"{}\", whose shape is not known)", named);
  if (!has_gpu && !has_model) return gpu + " and " + model;
  return !has_gpu ? gpu : !has_model ? model : "";
}

Result<WhatIfPointer> TrainedRecording::what_if(const Question& question) const {
  if (!is_imported()) return what_if_;
  if (const std::string missing = missing_choices(question); !missing.empty())
    return fail("{} is imported, expected what its file lacks: choose {}", opened_->name(), missing);
  {
    const std::scoped_lock lock(mutex_);
    if (specified_.what_if != nullptr && are_specified_alike(specified_.by, question))
      return specified_.what_if;
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::optional<simulator::GpuSpecification> gpu, specified_gpu(question));
  simulator::ModelShape shape;
  if (question.model.empty()) {
    shape = *shape_;
  } else {
    DRAFTSCOPE_TRY_ASSIGN(shape, simulator::model_shape_of(question.model));
  }
  simulator::WhatIfOptions options;
  options.specified =
      simulator::cost_model_of(*gpu, shape, question.weights.value_or(simulator::WeightType::bf16));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording().path));
  DRAFTSCOPE_TRY_ASSIGN(simulator::WhatIf made, simulator::WhatIf::train(reader, recording(), options));
  auto what_if = std::make_shared<const simulator::WhatIf>(std::move(made));
  const std::scoped_lock lock(mutex_);
  specified_ = {question, what_if};
  return what_if;
}

std::optional<simulator::GpuSpecification> TrainedRecording::recorded_on() const {
  return is_imported() ? std::nullopt : what_if_->costs().model.gpu;
}

std::string TrainedRecording::known_gpu() const {
  if (is_imported() || !simulator::is_gpu_recording(recording().meta)) return {};
  const auto gpu = simulator::find_gpu_of_driver(simulator::recorded_gpu_name(recording().meta));
  return gpu ? gpu->name : std::string();
}

std::optional<simulator::WeightType> TrainedRecording::recorded_weights() const {
  return is_imported() ? std::nullopt : std::optional(what_if_->costs().model.weights);
}

std::optional<std::int32_t> TrainedRecording::n_layers(const Question& question) const {
  if (is_imported() && !question.model.empty()) {
    const auto shape = simulator::model_shape_of(question.model);
    return shape ? std::optional(shape->n_layers) : std::nullopt;
  }
  return shape_ ? std::optional(shape_->n_layers) : std::nullopt;
}

void TrainedRecording::list_runs() {
  for (const traces::Run& run : recording().runs) {
    if (run.is_baseline ||
        std::find(strategies_.begin(), strategies_.end(), run.specification) != strategies_.end())
      continue;
    strategies_.push_back(run.specification);
    if (const auto setting = simulator::early_exit_of(run, recording()))
      points_.push_back({run.specification, setting->exit, setting->gamma,
                         setting->verified_layers == simulator::VerifiedLayers::above_exit});
  }
}

Question TrainedRecording::question_of(const std::string& strategy) const {
  constexpr std::int32_t usual_exit = 8;  // Default for imported answers, whose model may not be known yet.
  Question question{.kind = StrategyKind::recorded,
                    .recorded = strategy,
                    .exit = shape_ ? std::max(1, shape_->n_layers / 4) : usual_exit,
                    .recorded_gpu = recorded_gpu_};
  for (const RecordedPoint& point : points_)
    if (point.strategy == strategy) {
      question.exit = point.exit;
      question.gamma = point.gamma;
      question.verifies_above_exit = point.verifies_above_exit;
    }
  return question;
}

Question TrainedRecording::first_question(const std::string& shown) const {
  const bool is_there = std::find(strategies_.begin(), strategies_.end(), shown) != strategies_.end();
  Question question = question_of(is_there ? shown : strategies_.empty() ? "" : strategies_.front());
  const speculation::StrategyRow& row =
      speculation::strategy_row(speculation::strategy_name(question.recorded));
  const bool is_known = !is_imported() || row.guesses_from_text() ||
                        std::any_of(points_.begin(), points_.end(), [&](const RecordedPoint& point) {
                          return point.strategy == question.recorded;
                        });
  // An imported file often does not say which layers drafted: ask then about an early exit with its
  // acceptance.
  if (question.recorded.empty() || !is_known) {
    question.kind = StrategyKind::fixed_length;
    question.recorded.clear();
  }
  return question;
}

}  // namespace draftscope::gui
