// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is known of `auto`'s drafters before it runs: from a policy of `draftscope tune`, which measured them,
// or of `draftscope advise`, which has them from shadow tokens and rankings.
//
// Values; all functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/policy_file.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// A drafter's figures, as `expected` has them: "exit-8/0.71/0.35", "skip-set/0.8/0.6", "q4_0/0.9/0.3".
struct DrafterExpectation {
  std::string drafter;      ///< "exit-8", "skip-set" or a weight format
  double acceptance = 0.0;  ///< of a token behind right ones: above 0, below 1
  double step_cost = 0.0;   ///< of a draft step, in vanilla rounds: above 0
};
/// Several, joined by +; empty = none. Errors: another form, or a figure out of its bounds.
[[nodiscard]] Result<std::vector<DrafterExpectation>> parse_expectations(std::string_view text);
[[nodiscard]] std::string expectations_text(const std::vector<DrafterExpectation>& expectations);

/// Acceptance and step cost that lead to what was measured of a chain of draft tokens, were all tokens alike
/// and a further row of a verification 0.03 of a vanilla round (Leviathan et al. 2023, equation 1, solved for
/// α). None if nothing was drafted or accepted, or all was.
struct StepFigures {
  double acceptance = 0.0;
  double step_cost = 0.0;
};
[[nodiscard]] std::optional<StepFigures> step_figures(const Measurement& measured);

/// `automatic` with the exits, the skip set and the formats by which the policy's best settings draft beside
/// its own, and what was measured of them as `expected`, where it says nothing itself. It needs the file no
/// more.
[[nodiscard]] Result<StrategySpecification> with_policy(const StrategySpecification& automatic,
                                                        const PolicyFile& policy, std::int32_t n_layers);

/// The same from the file that the parameter `policy` names; `automatic` itself if that is none. Errors:
/// with_policy()'s, a file that is no finished policy, or one for a model of another shape.
[[nodiscard]] Result<StrategySpecification> with_policy_read(const StrategySpecification& automatic,
                                                             const ModelShape& shape);

}  // namespace draftscope::speculation
