// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/policy_choice.h"

#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/prices/scenario.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/replay/policy.h"
#include "strategies/parts/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::PartKind;
using speculation::StrategySpecification;

PolicyChoice none(AnswerStatus status, std::string_view reason) {
  return {status, std::string(reason), nullptr};
}

/// Reason why no policy replays the strategy with any parameters. Null for a mix, whose parts give their
/// reasons.
const std::string* reason_of_name(std::string_view name) {
  const std::string& reason = speculation::strategy_row(name).no_replay;
  return reason.empty() ? nullptr : &reason;
}

tl::unexpected<Error> unknown_part(const StrategySpecification& strategy, PartKind kind) {
  return fail("strategy {}: found {}={}, expected a part that the simulator knows", strategy.name(),
              speculation::part_kind_name(kind), strategy.part(kind));
}

/// Reason why a table does not determine the rounds of a strategy's length, stop rule or shape; empty if it
/// does.
std::string no_chain_reason(const StrategySpecification& strategy) {
  if (!strategy.has_parts())
    return speculation::strategy_row(strategy.name()).drafts_with_other_model ? "" : strategy.no_replay();
  for (const PartKind kind : {PartKind::length, PartKind::stop, PartKind::shape}) {
    const speculation::PartRow* const row = strategy.part_row(kind);
    if (row == nullptr) continue;
    if (!row->no_replay.empty()) return row->no_replay;
    if (!row->no_chain.empty()) return row->no_chain;
  }
  return "";
}

/// The policy of a length, stop or tree that has a rule; null if it has none.
std::unique_ptr<Policy> policy_by_rule(const StrategySpecification& strategy, PartKind kind) {
  if (kind == PartKind::length)
    if (const auto length = speculation::length_rule(strategy))
      return std::make_unique<LengthPolicy>(*length);
  if (kind == PartKind::stop)
    if (const auto stop = speculation::threshold_rule(strategy))
      return std::make_unique<ThresholdPolicy>(*stop);
  if (kind == PartKind::shape)
    if (const auto widths = speculation::widths_of(strategy); !widths.empty())
      return std::make_unique<TreePolicy>(widths);
  return nullptr;
}

/// The parts' policies; parts that name one function share one.
Result<std::unique_ptr<Policy>> mixed(const StrategySpecification& strategy, const ReplayModel& model) {
  std::vector<std::unique_ptr<Policy>> policies;
  std::vector<decltype(PartPrediction::policy)> made;
  for (const PartKind kind : {PartKind::mask, PartKind::length, PartKind::stop, PartKind::shape}) {
    if (auto by_rule = policy_by_rule(strategy, kind)) {
      policies.push_back(std::move(by_rule));
      continue;
    }
    const PartPrediction* part = part_prediction(strategy, kind);
    const bool is_known = part != nullptr && (kind != PartKind::mask || part->policy != nullptr);
    if (!is_known) return unknown_part(strategy, kind);
    if (part->policy == nullptr || std::ranges::find(made, part->policy) != made.end()) continue;
    made.push_back(part->policy);
    policies.push_back(part->policy(strategy, model));
  }
  return std::make_unique<MixedPolicy>(std::move(policies));
}

}  // namespace

Result<PolicyChoice> policy_of(const StrategySpecification& strategy, const ReplayModel& model) {
  if (!strategy.no_replay().empty()) return none(AnswerStatus::approximate, strategy.no_replay());
  if (strategy.has_parts()) {
    DRAFTSCOPE_TRY_ASSIGN(auto policy, mixed(strategy, model));
    return PolicyChoice{AnswerStatus::exact, "", std::move(policy)};
  }
  if (const auto policy = strategy_prediction(strategy.name()).policy; policy != nullptr)
    return PolicyChoice{AnswerStatus::exact, "", policy()};
  return fail("strategy {}: found no policy that replays it, expected one that the simulator knows",
              strategy.name());
}

Result<std::unique_ptr<Policy>> chain_policy(const StrategySpecification& strategy, std::int32_t layer) {
  if (const std::string reason = no_chain_reason(strategy); !reason.empty())
    return fail("strategy {}: {} (approximate), expected a recorded run of it", strategy.given(), reason);
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<FixedExit>(layer));
  for (const PartKind kind : {PartKind::length, PartKind::stop, PartKind::shape})
    if (auto by_rule = policy_by_rule(strategy, kind)) policies.push_back(std::move(by_rule));
  return std::make_unique<MixedPolicy>(std::move(policies));
}

Result<PolicyChoice> policy_of_specification(std::string_view specification, const ReplayModel& model) {
  const std::string_view name = speculation::strategy_name(specification);
  const std::string* reason = reason_of_name(name);
  if (speculation::strategy_row(name).names_another) return fail("strategy {}: {}", name, *reason);
  if (reason != nullptr) return none(AnswerStatus::approximate, *reason);
  DRAFTSCOPE_TRY_ASSIGN(const auto strategy, speculation::parse_strategy(specification, model.n_layers));
  return policy_of(strategy, model);
}

Result<PolicyChoice> policy_of_run(const traces::Run& run, const ReplayModel& model) {
  if (!speculation::strategy_row(run.strategy).names_another)
    if (const std::string* reason = reason_of_name(run.strategy))
      return none(AnswerStatus::approximate, *reason);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, run_specification(run, model.n_layers));
  return policy_of(specification, model);
}

PolicyChoice text_choice(const traces::Recording& recording) {
  const traces::Meta& meta = recording.meta;
  const std::string penalty = meta_value(meta, "repetition_penalty");
  const bool is_penalised = (!penalty.empty() && parse_number<double>(penalty) != 1.0) ||
                            !meta_value(meta, "frequency_penalty").empty() ||
                            !meta_value(meta, "presence_penalty").empty() ||
                            !meta_value(meta, "logit_bias").empty();
  if (is_penalised)
    return none(
        AnswerStatus::invalid,
        "recorded with a penalty or a logit bias, expected none: shadow tokens and recorded drafts do "
        "not say what another policy would have drafted under it");
  const std::string temperature = meta_value(meta, "temperature");
  if (temperature.empty() || parse_number<double>(temperature) == 0.0) return {};
  if (meta_value(meta, "coupling") == "gumbel")
    return none(AnswerStatus::approximate,
                "sampled with coupled noise: the text is every policy's, but shadow tokens are the best, not "
                "what a draft would have drawn");
  return none(AnswerStatus::invalid, "sampled without coupled noise: another policy writes another text");
}

Result<ReplayModel> replay_model(const traces::Recording& recording) {
  const auto shape = recorded_shape(recording.meta);
  if (!shape) return fail("{}: {}", recording.path.string(), shape.error().message);
  return ReplayModel{shape->n_layers, speculation::head_in_layers(*shape)};
}

}  // namespace draftscope::simulator
