// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Chooses the policy that replays a strategy with its parameters, or gives the reason why none can.

#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <memory>
#include <string>
#include <string_view>

#include "rounds/replay/policy.h"

namespace draftscope::simulator {

struct PolicyChoice {
  /// Is `exact` if its rounds can be replayed; each round then has its own status. Otherwise there is no
  /// policy, and this is the best status that any answer from this recording could have.
  AnswerStatus status = AnswerStatus::exact;
  std::string reason;              ///< One line; empty if there is a policy.
  std::unique_ptr<Policy> policy;  ///< Null if it can't be replayed from shadow tables.
};

/// Facts about the target model that policies need.
struct ReplayModel {
  std::int32_t n_layers = 0;
  double head_in_layers = 0.0;  ///< Weight bytes of the head / those of a layer.
};

/// Reads the model from the recording's meta. Errors: model_shape is missing or lacks a field.
[[nodiscard]] Result<ReplayModel> replay_model(const traces::Recording& recording);

/// The policy of a checked specification. Errors: a strategy or part that is in the catalogue but unknown
/// here.
[[nodiscard]] Result<PolicyChoice> policy_of(const speculation::StrategySpecification& strategy,
                                             const ReplayModel& model);

/// Chooses from text such as "layerskip:exit=4,gamma=6", as on the command line, with the catalogue's
/// defaults. Errors: an unknown strategy, parameter or value. Parameters of a strategy that is never replayed
/// are not parsed.
[[nodiscard]] Result<PolicyChoice> policy_of_specification(std::string_view specification,
                                                           const ReplayModel& model);

/// Policy of a strategy's lengths and stop rule only, for a table whose layer `layer` drafts chains (a
/// drafted table, rounds/drafts/drafted_table.h). Errors: a rule that needs data missing in a table, another
/// shape.
[[nodiscard]] Result<std::unique_ptr<Policy>> chain_policy(const speculation::StrategySpecification& strategy,
                                                           std::int32_t layer);

/// The policy that the run recorded, from Run::parameters. It starts in the strategy's state before its first
/// request.
[[nodiscard]] Result<PolicyChoice> policy_of_run(const traces::Run& run, const ReplayModel& model);

/// Whether texts of this recording are equal under any policy, as greedy ones are. Returns `exact`, or the
/// status and the reason.
[[nodiscard]] PolicyChoice text_choice(const traces::Recording& recording);

}  // namespace draftscope::simulator
