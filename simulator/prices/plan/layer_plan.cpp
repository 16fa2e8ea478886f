// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <draftscope/speculation/published_models.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

bool LayerPlan::has_experts() const {
  return std::ranges::any_of(mlps, [](const MlpKind& kind) { return kind.n_experts > 0; });
}

bool LayerPlan::has_states() const {
  return std::ranges::any_of(mixers, [](const MixerKind& kind) { return kind.state_bytes > 0.0; });
}

double distinct_experts(std::int32_t n_experts, std::int32_t n_used, double rows) {
  if (n_used >= n_experts) return n_experts;
  const double left_out = std::log1p(-static_cast<double>(n_used) / n_experts);
  return -n_experts * std::expm1(rows * left_out);
}

std::string plan_text(const LayerPlan& plan) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const MlpKind& kind : plan.mlps)
    if (kind.n_experts > 0)
      add(fmt::format("{} layers use {} of {} experts, each row its own choice", kind.count, kind.n_used,
                      kind.n_experts));
  for (const MixerKind& kind : plan.mixers) {
    if (kind.state_bytes > 0.0)
      add(fmt::format("{} have a state of {:.2g} MB", kind.count, 1e-6 * kind.state_bytes));
    if (kind.window > 0) add(fmt::format("{} a window of {} rows", kind.count, kind.window));
  }
  if (plan.next_token) add("a next-token layer follows");
  return text.empty() ? "layers alike" : text;
}

Result<PlannedModel> planned_model_of(const std::string& name_or_file) {
  if (!name_or_file.ends_with(".json")) {
    DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, speculation::find_model_shape(name_or_file));
    return PlannedModel{std::move(shape), std::nullopt};
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(name_or_file, max_settings_bytes));
  return parse_planned_model(text, name_or_file);
}

}  // namespace draftscope::simulator
