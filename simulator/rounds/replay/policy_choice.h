// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a strategy's name and parameters to the policy that replays it, or to the reason why none can.

#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <memory>
#include <string>
#include <string_view>

#include "rounds/replay/policy.h"

namespace draftscope::simulator {

struct PolicyChoice {
  /// `exact`: its rounds can be replayed, and each round says how exactly. Else the most that any answer
  /// from this recording could be, and there is no policy.
  AnswerStatus status = AnswerStatus::exact;
  std::string reason;              ///< one line; empty if there is a policy
  std::unique_ptr<Policy> policy;  ///< null if it can't be replayed from shadow tables
};

/// Facts of the target model that policies need.
struct ReplayModel {
  std::int32_t n_layers = 0;
  double head_in_layers = 0.0;  ///< weight bytes of the head in units of a layer's
};

/// From the recording's meta. Errors: model_shape is missing or lacks a field.
[[nodiscard]] Result<ReplayModel> replay_model(const traces::Recording& recording);

/// The policy of a checked specification. Errors: a strategy or part that is in the catalogue but unknown
/// here.
[[nodiscard]] Result<PolicyChoice> policy_of(const speculation::StrategySpecification& strategy,
                                             const ReplayModel& model);

/// "layerskip:exit=4,gamma=6", as on the command line, with the catalogue's defaults. Errors: an unknown
/// strategy, parameter or value. A strategy that is never replayed is not read beyond its name.
[[nodiscard]] Result<PolicyChoice> policy_of_specification(std::string_view specification,
                                                           const ReplayModel& model);

/// The policy of a strategy's lengths and stop rule alone, for a table whose layer `layer` drafts chains (a
/// drafted one, rounds/drafts/drafted_table.h). Errors: a rule that needs more than a table tells, another
/// shape.
[[nodiscard]] Result<std::unique_ptr<Policy>> chain_policy(const speculation::StrategySpecification& strategy,
                                                           std::int32_t layer);

/// The policy that the run recorded, from Run::parameters. The policy starts as the strategy did before its
/// first request.
[[nodiscard]] Result<PolicyChoice> policy_of_run(const traces::Run& run, const ReplayModel& model);

/// Whether texts of this recording are the same under any policy: greedy ones are. `exact`, or the status and
/// the reason.
[[nodiscard]] PolicyChoice text_choice(const traces::Recording& recording);

}  // namespace draftscope::simulator
