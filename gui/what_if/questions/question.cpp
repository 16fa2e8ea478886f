// SPDX-License-Identifier: GPL-3.0-or-later
#include "question.h"

#include <draftscope/base/shell_words.h>

#include <fmt/format.h>

#include <tuple>

namespace draftscope::gui {

namespace {

auto key(const Question& question) {
  return std::tie(question.kind, question.recorded, question.exit, question.gamma, question.threshold,
                  question.verifies_above_exit, question.gpu, question.machine_file, question.model,
                  question.weights, question.regime, question.batch, question.tensor_parallel,
                  question.longer_context, question.recorded_gpu, question.host, question.draft_cost);
}

}  // namespace

bool operator==(const Question& a, const Question& b) {
  return key(a) == key(b);
}

std::string strategy_of(const Question& question) {
  if (question.kind == StrategyKind::recorded) return question.recorded;
  simulator::EarlyExitSetting setting{.exit = question.exit, .gamma = question.gamma};
  if (question.kind == StrategyKind::threshold) setting.threshold = question.threshold;
  if (question.verifies_above_exit) setting.verified_layers = simulator::VerifiedLayers::above_exit;
  return simulator::specification(setting);
}

Result<simulator::Machine> machine_of(const Question& question, const simulator::Scenario& recorded) {
  simulator::Scenario scenario = recorded;
  if (question.machine_file != nullptr) {
    scenario.gpu = question.machine_file->gpu;
  } else if (!question.gpu.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(scenario.gpu, simulator::find_gpu(question.gpu));
  }
  if (!question.model.empty()) {
    DRAFTSCOPE_TRY(simulator::set_model(scenario, question.model));
  }
  if (question.weights) scenario.weights = *question.weights;
  scenario.regime = question.regime;
  scenario.batch = question.batch;
  scenario.tensor_parallel = question.tensor_parallel;
  if (!question.host.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(scenario.host, simulator::host_time_of(question.host));
  }
  if (!question.draft_cost.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(scenario.draft_cost, simulator::parse_draft_cost(question.draft_cost));
  }
  DRAFTSCOPE_TRY_ASSIGN(
      simulator::Machine machine,
      simulator::asked_machine(
          std::move(scenario), recorded,
          question.machine_file != nullptr ? question.machine_file->calibrated.get() : nullptr));
  return machine;
}

Question heat_map_question(Question question) {
  if (question.kind == StrategyKind::recorded) question.kind = StrategyKind::fixed_length;
  if (question.kind == StrategyKind::fixed_length) question.threshold = 0.0;
  question.recorded.clear();
  question.exit = 0;
  question.gamma = 0;
  return question;
}

std::string machine_options_of(const Question& question) {
  std::string line;
  if (!question.recorded_gpu.empty()) line += " --recorded-gpu " + quoted_word(question.recorded_gpu);
  if (question.machine_file != nullptr)
    line += (question.machine_file->gpu ? " --gpu-spec " : " --calibration ") +
            quoted_word(question.machine_file->path.string());
  else if (!question.gpu.empty())
    line += " --gpu " + quoted_word(question.gpu);
  if (!question.model.empty()) line += " --model " + quoted_word(question.model);
  if (question.weights) line += fmt::format(" --weights {}", weight_type_name(*question.weights));
  if (question.regime != simulator::Regime::as_fitted)
    line += fmt::format(" --regime {}", simulator::regime_name(question.regime));
  if (question.batch != 1) line += fmt::format(" --batch {}", question.batch);
  if (question.tensor_parallel != 1) line += fmt::format(" --tensor-parallel {}", question.tensor_parallel);
  if (question.longer_context != 0) line += fmt::format(" --longer-context {}", question.longer_context);
  if (!question.host.empty()) line += " --host " + quoted_word(question.host);
  if (!question.draft_cost.empty()) line += " --draft-cost " + quoted_word(question.draft_cost);
  return line;
}

std::string command_line_of(const Question& question, const std::string& file) {
  return fmt::format("draftscope simulate {} --strategy {}", quoted_word(file),
                     quoted_word(strategy_of(question))) +
         machine_options_of(question);
}

}  // namespace draftscope::gui
