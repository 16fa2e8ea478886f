// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_facts.h"

#include <draftscope/base/json_field.h>

#include <nlohmann/json.hpp>

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

}  // namespace draftscope::gui
