// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The drafters by a part of the model that `auto` has, and its rule's options, as its specification and the
// way in which the target is held say. Engine and simulator number drafters by this list. Some is known
// before it runs: from a policy of `draftscope tune`, which measured the drafters, or of `draftscope advise`,
// which has them from shadow tokens and rankings.
//
// Values; the functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/policy_file.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strategies/auto/rule.h"

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

/// How the target is held: which weights can be made beside its own, and how wide those are.
struct HeldTarget {
  std::vector<WeightFormat> formats;  ///< that its backend makes beside this target's
  bool holds_one_copy = false;        ///< a GPU's memory is short
  double bits = 16.0;                 ///< of a weight, in what most weights are held in
};
/// A target of which no more is known than `device`, "cpu" or "cuda", and `weights`, the formats of its
/// matrices, most weights first, as "q4_1, q8_0": its backend makes all its formats.
[[nodiscard]] HeldTarget held_target(std::string_view device, std::string_view weights);

/// A part of the model that may draft.
struct AutoDrafter {
  std::string name;  ///< "q8_0", "exit 8", "skip set": the origin of its rounds' layer sets
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< none = the target's own
  ExpectedDrafter expected;
};

/// Exits, the skip set, and of the listed formats those that are narrower than the target's and that its
/// backend makes beside it; where it holds one copy, fp8 instead of others if it makes that. Errors: an exit,
/// a layer or a format that is none.
[[nodiscard]] Result<std::vector<AutoDrafter>> auto_drafters(const StrategySpecification& automatic,
                                                             std::int32_t n_layers, const HeldTarget& target);

/// The rule's options with these drafters, in their order.
[[nodiscard]] AutoOptions auto_options(const StrategySpecification& automatic,
                                       std::span<const AutoDrafter> drafters);

}  // namespace draftscope::speculation
