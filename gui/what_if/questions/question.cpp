// SPDX-License-Identifier: GPL-3.0-or-later
#include "question.h"

#include <draftscope/base/ascii.h>
#include <draftscope/base/shell_words.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/speculation/published_models.h>

#include <fmt/format.h>
#include <algorithm>
#include <span>
#include <vector>

namespace draftscope::gui {

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

namespace {

using Words = std::vector<std::string>;

bool is_digit_letter(char letter) {
  return letter >= '0' && letter <= '9';
}

Words words_of(std::string_view text) {
  Words words;
  bool is_inside = false;
  for (const char any_case : text) {
    const char letter = in_lower_case(any_case);
    const bool is_part = (letter >= 'a' && letter <= 'z') || is_digit_letter(letter);
    if (is_part && !is_inside) words.emplace_back();
    if (is_part) words.back() += letter;
    is_inside = is_part;
  }
  return words;
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// Whether neighbouring words of a name make this text: "Llama-3-8B" has "llama38b", "38b" and "8b".
bool has_part(const Words& name, const std::string& text) {
  for (std::size_t first = 0; first < name.size(); ++first)
    for (std::size_t count = 1; count <= name.size() - first; ++count)
      if (joined(std::span(name).subspan(first, count)) == text) return true;
  return false;
}

/// The shortest of the names with this part. Names of machines and models have digits; other words ("next")
/// are left to commands.
const std::string* shortest_with(const std::vector<std::string>& names, const std::string& part) {
  if (part.size() < 2 || std::ranges::none_of(part, is_digit_letter)) return nullptr;
  const std::string* shortest = nullptr;
  for (const std::string& name : names)
    if ((shortest == nullptr || name.size() < shortest->size()) && has_part(words_of(name), part))
      shortest = &name;
  return shortest;
}

struct KnownNames {
  std::vector<std::string> gpus;
  std::vector<std::string> models;
};

const KnownNames& known_names() {
  static const KnownNames names = [] {
    KnownNames known;
    for (const simulator::GpuSpecification& gpu : simulator::known_gpus()) known.gpus.emplace_back(gpu.name);
    if (const auto shapes = speculation::known_model_shapes())
      for (const simulator::ModelShape& shape : *shapes) known.models.push_back(shape.name);
    return known;
  }();
  return names;
}

/// Gives the question what the part names, unless it has that already.
bool take_part(Question& question, const std::string& part) {
  for (const simulator::WeightType type : simulator::all_weight_types)
    if (!question.weights && joined(words_of(simulator::weight_type_name(type))) == part) {
      question.weights = type;
      return true;
    }
  for (const auto& [names, field] :
       {std::pair(&known_names().gpus, &question.gpu), std::pair(&known_names().models, &question.model)}) {
    const std::string* name = field->empty() ? shortest_with(*names, part) : nullptr;
    if (name == nullptr) continue;
    *field = *name;
    return true;
  }
  return false;
}

/// Takes the longest part that names something out of the words, and then what stands on both sides of it.
bool take_words(Question& question, std::span<const std::string> words) {
  for (std::size_t count = words.size(); count > 0; --count)
    for (std::size_t first = 0; first + count <= words.size(); ++first)
      if (take_part(question, joined(words.subspan(first, count))))
        return take_words(question, words.first(first)) && take_words(question, words.subspan(first + count));
  return words.empty();
}

}  // namespace

std::optional<Question> named_question(std::string_view words) {
  Question question;
  if (!take_words(question, words_of(words))) return std::nullopt;
  if (question.gpu.empty() && question.model.empty()) return std::nullopt;
  return question;
}

std::string machine_words(const Question& question) {
  std::string words = question.model;
  if (!question.gpu.empty()) words += (words.empty() ? "" : " on ") + question.gpu;
  if (question.weights) words += ", " + std::string(simulator::weight_type_name(*question.weights));
  return words;
}

}  // namespace draftscope::gui
