// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/steps.h"

#include <draftscope/base/shell_words.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/policy_file.h>
#include <draftscope/speculation/strategy_text.h>

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;
using speculation::PolicyFile;
using speculation::Trial;

/// A category as a part of a file's name. Its place tells categories apart that differ in other characters.
std::string file_word(const PlanInputs& inputs, const std::string& category) {
  std::string word = category.empty() ? "none" : category;
  for (char& c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  const auto place = std::find(inputs.categories.begin(), inputs.categories.end(), category);
  return fmt::format("{}-{}", place - inputs.categories.begin() + 1, word);
}

fs::path prompts_file(const PlanInputs& inputs, const std::string& category) {
  return inputs.settings.folder / fmt::format("prompts-{}.jsonl", file_word(inputs, category));
}

/// The policy of a search; `category` is empty for a search on all prompts.
fs::path policy_path(const PlanInputs& inputs, const SearchRow& search, const std::string& category) {
  const std::string suffix = search.by_category ? "-" + file_word(inputs, category) : "";
  return inputs.settings.folder / fmt::format("{}{}.json", search.name, suffix);
}

bool is_baseline(std::string_view strategy) {
  return speculation::strategy_row(speculation::strategy_name(strategy)).is_baseline;
}

/// The best-scored trial of those that fit; null if none does.
template <typename Fits>
const Trial* best_trial(const PolicyFile& policy, const Fits& fits) {
  const Trial* best = nullptr;
  for (const Trial& trial : policy.trials)
    if (fits(trial) && (best == nullptr || trial.measured.score > best->measured.score)) best = &trial;
  return best;
}

/// The policy's strategy; where nothing beat vanilla decoding, the best setting that drafts.
std::string best_setting(const PolicyFile& policy) {
  if (!is_baseline(policy.strategy)) return policy.strategy;
  const Trial* best = best_trial(policy, [](const Trial& trial) { return !is_baseline(trial.setting); });
  return best == nullptr ? policy.strategy : best->setting;
}

bool skips_something(const Trial& trial) {
  return trial.candidate &&
         trial.candidate->mask != speculation::SublayerMask(trial.candidate->mask.n_layers());
}

/// Text that a place of a row's texts stands for.
Result<std::string> value_of_place(const ExperimentRow& experiment, const PlanInputs& inputs,
                                   const std::string& category, std::string_view place) {
  if (place == "draft") return inputs.settings.draft_model;
  if (place.starts_with("L")) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t layers, inputs.layers());
    const auto share = speculation::bound_of(place, layers);
    return fmt::format("{}", std::max<std::int64_t>(share.value_or(1), 1));
  }
  const std::string_view name = place.substr(0, place.find('.'));
  const auto search = std::ranges::find(experiment.searches, name, &SearchRow::name);
  if (search == experiment.searches.end())
    return fail("{}: found the place {{{}}}, expected the name of a search", experiment.name, place);
  const fs::path file = policy_path(inputs, *search, category);
  if (name == place) return file.string();
  if (!inputs.has_policies) return fmt::format("{{{}{}}}", file.stem().string(), place.substr(name.size()));
  DRAFTSCOPE_TRY_ASSIGN(const PolicyFile policy, speculation::read_policy(file));
  const std::string setting = best_setting(policy);
  const auto value = speculation::parameter_of(setting, place.substr(name.size() + 1));
  if (!value)
    return fail("{}: found the setting {}, expected one with {}", file.string(), setting,
                place.substr(name.size() + 1));
  return std::string(*value);
}

/// Fills in the places of a row's text; `category` is empty for all prompts.
Result<std::string> filled(const ExperimentRow& experiment, const PlanInputs& inputs,
                           const std::string& category, std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return result.append(text);
    DRAFTSCOPE_TRY_ASSIGN(const std::string value, value_of_place(experiment, inputs, category,
                                                                  text.substr(open + 1, close - open - 1)));
    result.append(text.substr(0, open)).append(value);
    text.remove_prefix(close + 1);
  }
}

/// Values of the axis; the word `exits` stands for at most twelve exits of the model.
Result<std::vector<std::string>> axis_values(const AxisRow& axis, const LayersOfModel& layers) {
  if (axis.values != std::vector<std::string>{"exits"}) return axis.values;
  constexpr std::int32_t max_exits = 12;
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t count, layers());
  const std::int32_t stride = (count - 2) / max_exits + 1;
  std::vector<std::string> values;
  for (std::int32_t exit = 1; exit < count; exit += stride) values.push_back(fmt::format("{}", exit));
  return values;
}

/// A setting once, or once for each category whose search it takes, or once for each value of the axis.
Result<void> add_settings(const ExperimentRow& experiment, const PlanInputs& inputs, const SettingRow& row,
                          Plan& plan) {
  const bool is_curve = experiment.printer == Printer::curve && &row == &experiment.settings.back();
  if (is_curve) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string strategy, filled(experiment, inputs, "", row.strategy));
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> values, axis_values(experiment.axis, inputs.layers));
    for (const std::string& text : values) {
      DRAFTSCOPE_TRY_ASSIGN(const std::string value, filled(experiment, inputs, "", text));
      plan.settings.push_back(
          {row, value, speculation::with_parameter(strategy, experiment.axis.key, value)});
    }
    return {};
  }
  const bool by_category = is_by_category(experiment, row);
  const std::vector<std::string> all{""};
  for (const std::string& category : by_category ? inputs.categories : all) {
    FilledSetting setting{row, "", ""};
    if (by_category) setting.row.label += " " + simulator::category_name(category);
    DRAFTSCOPE_TRY_ASSIGN(setting.strategy, filled(experiment, inputs, category, row.strategy));
    plan.settings.push_back(std::move(setting));
  }
  return {};
}

std::vector<std::string> decoding_command(const std::string& command, const ReproduceSettings& settings,
                                          const std::string& prompts) {
  std::vector<std::string> words{command, "--model", settings.model, "--prompts", prompts};
  words.insert(words.end(), settings.machine.begin(), settings.machine.end());
  return words;
}

/// A recording of the strategies, each once.
Step recording_of(const ExperimentRow& experiment, const ReproduceSettings& settings,
                  const std::vector<std::string>& strategies, const std::string& file,
                  const std::vector<std::string>& more) {
  Step step{decoding_command("record", settings, settings.prompts), settings.folder / file};
  std::vector<std::string>& words = step.arguments;
  words.insert(words.end(), {"-n", fmt::format("{}", settings.max_tokens)});
  if (settings.limit > 0) words.insert(words.end(), {"--limit", fmt::format("{}", settings.limit)});
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), experiment.decoding.begin(), experiment.decoding.end());
  for (const std::string& strategy : strategies) words.insert(words.end(), {"-s", strategy});
  words.insert(words.end(), {"-o", step.output.string()});
  return step;
}

/// The text as a regular expression of `grep -E` that finds itself.
std::string escaped(const std::string& text) {
  constexpr std::string_view special = "\\.[]*^$+?(){}|";
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

void insert_once(std::vector<std::string>& all, const std::string& text) {
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

std::vector<std::string> strategies_of(const std::vector<FilledSetting>& settings) {
  std::vector<std::string> strategies;
  for (const FilledSetting& setting : settings) insert_once(strategies, setting.strategy);
  return strategies;
}

bool is_by_category(const ExperimentRow& experiment, const SettingRow& setting) {
  return std::any_of(experiment.searches.begin(), experiment.searches.end(), [&](const SearchRow& search) {
    return search.by_category && (setting.strategy.find("{" + search.name + "}") != std::string::npos ||
                                  setting.strategy.find("{" + search.name + ".") != std::string::npos);
  });
}

Plan plan_searches(const ExperimentRow& experiment, const PlanInputs& inputs) {
  const ReproduceSettings& settings = inputs.settings;
  Plan plan;
  const std::vector<std::string> all{""};
  for (const SearchRow& search : experiment.searches)
    for (const std::string& category : search.by_category ? inputs.categories : all) {
      if (search.by_category) plan.category_prompts.push_back({category, prompts_file(inputs, category)});
      const std::string prompts =
          search.by_category ? plan.category_prompts.back().file.string() : settings.tune_prompts;
      Step step{decoding_command("tune", settings, prompts), policy_path(inputs, search, category)};
      step.arguments.insert(step.arguments.end(), search.arguments.begin(), search.arguments.end());
      step.arguments.insert(step.arguments.end(), {"-o", step.output.string()});
      plan.searches.push_back(std::move(step));
    }
  return plan;
}

Result<void> keep_skip_sets(const Plan& plan) {
  for (const Step& step : plan.searches) {
    DRAFTSCOPE_TRY_ASSIGN(PolicyFile policy, speculation::read_policy(step.output));
    if (policy.skip_set) continue;
    const Trial* best = best_trial(policy, skips_something);
    if (best == nullptr) continue;
    policy.skip_set = best->candidate->mask;
    DRAFTSCOPE_TRY(speculation::write_policy(step.output, policy));
  }
  return {};
}

Result<void> plan_recording(const ExperimentRow& experiment, const PlanInputs& inputs, Plan& plan) {
  const ReproduceSettings& settings = inputs.settings;
  plan.settings.clear();
  plan.prediction.clear();
  plan.recording.clear();
  for (const SettingRow& row : experiment.settings)
    DRAFTSCOPE_TRY(add_settings(experiment, inputs, row, plan));
  if (plan.settings.empty()) return {};
  const std::vector<std::string> all = strategies_of(plan.settings);
  std::vector<std::string> learnt;
  for (const FilledSetting& setting : plan.settings)
    if (setting.row.is_learnt) insert_once(learnt, setting.strategy);
  Step simulation{{"simulate", (settings.folder / "learnt.dstrace").string()},
                  settings.folder / "prediction.json"};
  for (const std::string& strategy : all)
    if (std::find(learnt.begin(), learnt.end(), strategy) == learnt.end())
      simulation.arguments.insert(simulation.arguments.end(), {"-s", strategy});
  const bool teaches =
      std::any_of(learnt.begin(), learnt.end(), [](const std::string& text) { return !is_baseline(text); });
  if (teaches && learnt.size() < all.size()) {
    simulation.arguments.insert(simulation.arguments.end(), {"-o", simulation.output.string()});
    plan.prediction = {recording_of(experiment, settings, learnt, "learnt.dstrace",
                                    {"--repeats", "1", "--shadow", "--level", "ops"}),
                       std::move(simulation)};
  }
  plan.recording = {recording_of(experiment, settings, all, "recording.dstrace",
                                 {"--repeats", fmt::format("{}", settings.repeats)})};
  return {};
}

std::string plan_text(const Plan& plan, const ReproduceSettings& settings) {
  const auto words = [](const std::vector<std::string>& all) { return shell_line(all); };
  std::string text = words({"mkdir", "-p", settings.folder.string()}) + '\n';
  const bool has_places = std::any_of(
      plan.settings.begin(), plan.settings.end(),
      [](const FilledSetting& setting) { return setting.strategy.find('{') != std::string::npos; });
  if (has_places) text += "# {NAME.exit} is the exit of the best setting that drafts in NAME.json\n";
  for (const CategoryPrompts& prompts : plan.category_prompts)
    text += words({"grep", "-E", fmt::format("\"category\": *\"{}\"", escaped(prompts.category)),
                   settings.tune_prompts}) +
            " > " + words({prompts.file.string()}) + '\n';
  for (const std::vector<Step>& steps : {plan.searches, plan.prediction, plan.recording})
    for (const Step& step : steps) text += "draftscope " + words(step.arguments) + '\n';
  return text;
}

}  // namespace draftscope::cli
