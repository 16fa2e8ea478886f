// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <nlohmann/json.hpp>

#include "rounds/replay/replay.h"

namespace draftscope::simulator {

namespace {

Result<std::int32_t> positive(const traces::Recording& recording, const std::string& key) {
  const auto found = recording.meta.find(key);
  const std::string text = found == recording.meta.end() ? "" : found->second;
  const auto value = parse_number<std::int32_t>(text);
  if (!value || *value < 1)
    return fail("{}: meta {} is {}, expected a positive integer", recording.path.string(), key, quote(text));
  return *value;
}

}  // namespace

Result<ReplayConditions> replay_conditions(const traces::Recording& recording) {
  ReplayConditions conditions;
  DRAFTSCOPE_TRY_ASSIGN(conditions.max_new_tokens, positive(recording, "max_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(conditions.context_rows, positive(recording, "cache_rows"));
  const auto shape = recording.meta.find("model_shape");
  const nlohmann::json json =
      shape == recording.meta.end() ? nlohmann::json{} : nlohmann::json::parse(shape->second, nullptr, false);
  const auto tokens = json.is_object() ? json.find("eos_tokens") : json.end();
  if (!json.is_object() || tokens == json.end() || !tokens->is_array())
    return fail("{}: meta model_shape has no list eos_tokens, expected one", recording.path.string());
  for (const nlohmann::json& token : *tokens) {
    if (!token.is_number_integer())
      return fail("{}: meta model_shape: eos_tokens holds another element, expected integers",
                  recording.path.string());
    conditions.end_tokens.push_back(token.get<std::int32_t>());
  }
  return conditions;
}

}  // namespace draftscope::simulator
