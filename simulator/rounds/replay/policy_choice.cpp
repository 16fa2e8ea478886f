// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/policy_choice.h"

#include <draftscope/base/number.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <utility>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/replay/policies.h"
#include "rounds/replay/policy_del.h"

namespace draftscope::simulator {

namespace {

using speculation::PartKind;
using speculation::StrategySpecification;

PolicyChoice none(AnswerStatus status, std::string_view reason) {
  return {status, std::string(reason), nullptr};
}

/// Why no policy replays the strategy, whatever its parameters are. Nothing for a mix, whose parts they name.
const std::string* reason_of_name(std::string_view name) {
  const speculation::StrategyRow* row = speculation::strategy_catalogue().find(name);
  return row == nullptr || row->no_replay.empty() ? nullptr : &row->no_replay;
}

tl::unexpected<Error> unknown_part(const StrategySpecification& strategy, PartKind kind) {
  return fail("strategy {}: found {}={}, expected a part that the simulator knows", strategy.name(),
              speculation::part_kind_name(kind), strategy.part(kind));
}

/// Reason why a table does not tell the rounds of a strategy's length, stop rule or shape; empty if it does.
std::string no_chain_reason(const StrategySpecification& strategy) {
  if (!strategy.has_parts()) return strategy.name() == "two-model" ? "" : strategy.no_replay();
  for (const PartKind kind : {PartKind::length, PartKind::stop, PartKind::shape}) {
    const speculation::PartRow* const row =
        speculation::strategy_catalogue().find_part(kind, strategy.part(kind));
    if (row != nullptr && !row->no_replay.empty()) return row->no_replay;
    if (strategy.part(kind) == "del")
      return fmt::format("DEL's {} needs what every exit would have drafted", part_kind_name(kind));
  }
  return "";
}

/// The parts' policies, DEL's one for all of its parts first.
Result<std::unique_ptr<Policy>> mixed(const StrategySpecification& strategy, const ReplayModel& model) {
  const auto is = [&](PartKind kind, std::string_view name) { return strategy.part(kind) == name; };
  std::vector<std::unique_ptr<Policy>> policies;
  const DelPolicy::Parts del{is(PartKind::mask, "del"), is(PartKind::length, "del"),
                             is(PartKind::stop, "del")};
  if (speculation::has_del(strategy))
    policies.push_back(std::make_unique<DelPolicy>(DelPolicy::Options{
        .rule = speculation::del_options(strategy), .head_in_layers = model.head_in_layers, .decides = del}));
  if (is(PartKind::mask, "exit"))
    policies.push_back(std::make_unique<FixedExit>(strategy.integer("exit")));
  else if (!del.exit)
    return unknown_part(strategy, PartKind::mask);
  if (auto length = speculation::length_rule(strategy))
    policies.push_back(std::make_unique<LengthPolicy>(*length));
  else if (!del.length)
    return unknown_part(strategy, PartKind::length);
  if (auto threshold = speculation::threshold_rule(strategy))
    policies.push_back(std::make_unique<ThresholdPolicy>(*threshold));
  else if (!del.threshold && !is(PartKind::stop, "none"))
    return unknown_part(strategy, PartKind::stop);
  if (!is(PartKind::shape, "chain")) return unknown_part(strategy, PartKind::shape);
  return std::make_unique<MixedPolicy>(std::move(policies));
}

}  // namespace

Result<PolicyChoice> policy_of(const StrategySpecification& strategy, const ReplayModel& model) {
  if (!strategy.no_replay().empty()) return none(AnswerStatus::approximate, strategy.no_replay());
  if (strategy.has_parts()) {
    DRAFTSCOPE_TRY_ASSIGN(auto policy, mixed(strategy, model));
    return PolicyChoice{AnswerStatus::exact, "", std::move(policy)};
  }
  if (strategy.name() == "vanilla") return PolicyChoice{AnswerStatus::exact, "", std::make_unique<NoDraft>()};
  return fail("strategy {}: found no policy that replays it, expected one that the simulator knows",
              strategy.name());
}

Result<std::unique_ptr<Policy>> chain_policy(const StrategySpecification& strategy, std::int32_t layer) {
  if (const std::string reason = no_chain_reason(strategy); !reason.empty())
    return fail("strategy {}: {} (approximate), expected a recorded run of it", strategy.given(), reason);
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<FixedExit>(layer));
  if (auto length = speculation::length_rule(strategy))
    policies.push_back(std::make_unique<LengthPolicy>(*length));
  if (auto threshold = speculation::threshold_rule(strategy))
    policies.push_back(std::make_unique<ThresholdPolicy>(*threshold));
  return std::make_unique<MixedPolicy>(std::move(policies));
}

Result<PolicyChoice> policy_of_specification(std::string_view specification, const ReplayModel& model) {
  const std::string_view name = speculation::strategy_name(specification);
  const std::string* reason = reason_of_name(name);
  if (name == "tuned" && reason != nullptr) return fail("strategy tuned: {}", *reason);
  if (reason != nullptr) return none(AnswerStatus::approximate, *reason);
  DRAFTSCOPE_TRY_ASSIGN(const auto strategy, speculation::parse_strategy(specification, model.n_layers));
  return policy_of(strategy, model);
}

Result<PolicyChoice> policy_of_run(const traces::Run& run, const ReplayModel& model) {
  if (run.strategy != "tuned")
    if (const std::string* reason = reason_of_name(run.strategy))
      return none(AnswerStatus::approximate, *reason);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, run_specification(run, model.n_layers));
  return policy_of(specification, model);
}

PolicyChoice text_choice(const traces::Recording& recording) {
  const auto value = [&](const std::string& key) {
    const auto found = recording.meta.find(key);
    return found == recording.meta.end() ? std::string() : found->second;
  };
  const std::string penalty = value("repetition_penalty");
  if (!penalty.empty() && parse_number<double>(penalty) != 1.0)
    return none(AnswerStatus::invalid,
                "recorded with a repetition penalty, expected none: shadow tokens and recorded drafts do not "
                "say what "
                "another policy would have drafted under it");
  const std::string temperature = value("temperature");
  if (temperature.empty() || temperature == "0") return {};
  if (value("coupling") == "gumbel")
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
