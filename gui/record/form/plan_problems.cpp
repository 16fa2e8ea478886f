// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_problems.h"

#include <draftscope/base/json_field.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/atomic_trace.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "record/form/strategy_text.h"

namespace draftscope::gui {

Result<ModelFacts> model_facts_of(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return fail("inspect: found text that is not a JSON object, expected a model's facts");
  const JsonField fields(json, "inspect");
  ModelFacts facts;
  DRAFTSCOPE_TRY_ASSIGN(facts.name, fields["model"].text());
  DRAFTSCOPE_TRY_ASSIGN(facts.n_layers, fields["model_shape"]["n_layers"].integer<std::int32_t>({.min = 1}));
  DRAFTSCOPE_TRY_ASSIGN(facts.context_tokens, fields["context_tokens"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(facts.parameters, fields["parameters"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(facts.weight_bytes, fields["weight_bytes"].integer<std::int64_t>());
  DRAFTSCOPE_TRY_ASSIGN(facts.dtype, fields["dtype"].text());
  DRAFTSCOPE_TRY_ASSIGN(facts.synthetic, fields["synthetic"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(facts.has_chat_template, fields["chat_template"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(facts.chat_template_problem, fields["chat_template_problem"].text_or(""));
  DRAFTSCOPE_TRY_ASSIGN(facts.tokenizer_problem, fields["tokenizer_problem"].text_or(""));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> strategies, fields["strategies"].list());
  for (const JsonField& strategy : strategies) {
    DRAFTSCOPE_TRY_ASSIGN(std::string name, strategy["name"].text());
    DRAFTSCOPE_TRY_ASSIGN(std::string lacks, strategy["lacks"].text_or(""));
    if (!lacks.empty()) facts.lacks.emplace(std::move(name), std::move(lacks));
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> gpus, fields["gpus"].list());
  for (const JsonField& gpu : gpus) {
    GpuFacts& one = facts.gpus.emplace_back();
    DRAFTSCOPE_TRY_ASSIGN(one.device, gpu["device"].text());
    DRAFTSCOPE_TRY_ASSIGN(one.name, gpu["name"].text());
  }
  DRAFTSCOPE_TRY_ASSIGN(facts.gpus_problem, fields["gpus_problem"].text_or(""));
  return facts;
}

namespace {

/// Whether a file or a set of layers is given: a strategy lacks something only without one.
bool gives_text(const StrategyText& strategy) {
  const auto parameters = parameters_of(strategy);
  return std::any_of(parameters.begin(), parameters.end(), [&](const speculation::ParameterRow& parameter) {
    const bool is_text = parameter.type == speculation::ParameterType::text ||
                         parameter.type == speculation::ParameterType::layers;
    return is_text && given_value(strategy, parameter) != nullptr;
  });
}

std::optional<std::string> problem_of_model(const RecordPlan& plan, const PlanContext& context) {
  if (plan.model.empty()) return "model: found nothing, expected a folder, a .gguf file or synthetic:NAME";
  if (!context.model_problem.empty()) return context.model_problem;
  if (context.model && !context.model->tokenizer_problem.empty()) return context.model->tokenizer_problem;
  if (plan.chat && context.model && !context.model->has_chat_template)
    return fmt::format("{}: has no chat template, expected one or no chat", context.model->name);
  if (plan.chat && context.model && !context.model->chat_template_problem.empty())
    return fmt::format("{}: its chat template cannot be rendered, expected one that can or no chat: {}",
                       context.model->name, context.model->chat_template_problem);
  return std::nullopt;
}

std::optional<std::string> problem_of_strategies(const RecordPlan& plan, const PlanContext& context) {
  if (plan.strategies.empty()) return "strategies: found none, expected at least one";
  std::set<std::string> seen;
  const std::int32_t n_layers = context.model ? context.model->n_layers : 0;
  for (const std::string& strategy : plan.strategies) {
    if (auto problem = problem_on_model(strategy, context.model)) return problem;
    const auto parsed = speculation::parse_strategy(strategy, std::max(n_layers, 1));
    const std::string identity = parsed ? parsed->name() + parsed->json() : strategy;
    if (!seen.insert(identity).second)
      return fmt::format("strategy: {} is given twice, expected each once (repeats record it more often)",
                         strategy);
  }
  return std::nullopt;
}

std::optional<std::string> problem_of_output(const RecordPlan& plan) {
  if (plan.output.empty()) return "output: found nothing, expected a file to write (.dstrace)";
  std::vector<std::filesystem::path> inputs;
  for (const std::string& input : {plan.model, plan.prompts})
    if (!input.empty()) inputs.emplace_back(input);
  const auto checked = traces::check_trace_target(plan.output, {inputs, plan.overwrite});
  if (!checked) return checked.error().message;
  return std::nullopt;
}

/// Number N of a device cuda:N, 0 of cuda; none for other words.
std::optional<std::size_t> gpu_number(std::string_view device) {
  constexpr std::string_view numbered = "cuda:";
  if (device == "cuda") return 0;
  return device.starts_with(numbered) ? parse_number<std::size_t>(device.substr(numbered.size()))
                                      : std::nullopt;
}

std::optional<std::string> problem_of_device(const RecordPlan& plan, const PlanContext& context) {
  if (plan.device == "cpu") return std::nullopt;
  const auto gpu = gpu_number(plan.device);
  if (!gpu) return fmt::format("device: found {}, expected cpu, cuda or cuda:N", quote(plan.device));
  if (!context.model) return std::nullopt;
  if (!context.model->gpus_problem.empty()) return context.model->gpus_problem;
  if (*gpu >= context.model->gpus.size())
    return fmt::format("device: found {}, expected cpu or cuda:0 to cuda:{}", quote(plan.device),
                       static_cast<std::int64_t>(context.model->gpus.size()) - 1);
  if (plan.threads != 0)
    return fmt::format("threads: given for device {}, expected them for cpu only", plan.device);
  return std::nullopt;
}

std::optional<std::string> problem_of_weights(const RecordPlan& plan) {
  const std::vector<std::string> fitting = record_weights_on(plan.device);
  if (std::ranges::find(fitting, plan.weights) != fitting.end()) return std::nullopt;
  return fmt::format("weights: found {} for device {}, expected one of {}", plan.weights, plan.device,
                     fmt::join(fitting, ", "));
}

std::optional<std::string> problem_of_device_trace(const RecordPlan& plan) {
  if (plan.device != "cpu" || plan.device_trace == "auto" || plan.device_trace == "off") return std::nullopt;
  return fmt::format("device-trace: found {} for device cpu, expected auto or off", plan.device_trace);
}

}  // namespace

std::optional<std::string> problem_on_model(const std::string& strategy,
                                            const std::optional<ModelFacts>& model) {
  if (auto problem = problem_of_strategy(strategy, model ? model->n_layers : 0)) return problem;
  if (!model) return std::nullopt;
  const StrategyText text = strategy_text_of(strategy);
  const auto lacking = model->lacks.find(text.name);
  if (lacking == model->lacks.end() || gives_text(text)) return std::nullopt;
  return fmt::format("strategy {}: {}", text.name, lacking->second);
}

bool has_baseline(const RecordPlan& plan) {
  return std::any_of(plan.strategies.begin(), plan.strategies.end(), [](const std::string& strategy) {
    return speculation::strategy_row(speculation::strategy_name(strategy)).is_baseline;
  });
}

std::map<PlanField, std::string> problems_of(const RecordPlan& plan, const PlanContext& context) {
  std::map<PlanField, std::string> problems;
  const auto add = [&](PlanField field, std::optional<std::string> problem) {
    if (problem) problems.emplace(field, *std::move(problem));
  };
  const auto said = [](const std::string& problem) {
    return problem.empty() ? std::nullopt : std::optional(problem);
  };
  add(PlanField::model, problem_of_model(plan, context));
  add(PlanField::prompts, plan.prompts.empty()
                              ? std::optional<std::string>("prompts: found nothing, expected a .jsonl file")
                              : said(context.prompts_problem));
  add(PlanField::strategies, problem_of_strategies(plan, context));
  add(PlanField::device, problem_of_device(plan, context));
  add(PlanField::device_trace, problem_of_device_trace(plan));
  add(PlanField::weights, problem_of_weights(plan));
  add(PlanField::template_arguments, said(context.template_arguments_problem));
  if (!plan.system.empty() && !plan.chat)
    add(PlanField::system, "system prompt: given without the chat template, expected both");
  if (!plan.template_arguments.empty() && !plan.chat)
    add(PlanField::template_arguments, "template arguments: given without the chat template, expected both");
  add(PlanField::output, problem_of_output(plan));
  add(PlanField::further, said(context.further_problem));
  return problems;
}

}  // namespace draftscope::gui
