// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The drafters of `auto` that are parts of the model or of its checkpoint, and its rule's options, from its
// specification and the target's weights in memory. Engine and simulator number drafters by this list. Some
// figures are known before a run: from a policy of `draftscope tune`, which measured the drafters, or of
// `draftscope advise`, which derives them from shadow tokens and rankings.
//
// Values; the functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/next_token_name.h>
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

/// A drafter's figures as written in `expected`: "exit-8/0.71/0.35", "skip-set/0.8/0.6", "q4_0/0.9/0.3".
struct DrafterExpectation {
  std::string drafter;      ///< "exit-8", "skip-set" or a weight format.
  double acceptance = 0.0;  ///< Acceptance of a token after correct ones; above 0, below 1.
  double step_cost = 0.0;   ///< Cost of a draft step, in vanilla rounds; above 0.
};
/// Parses several expectations, joined by +; empty = none. Errors: another form, or a figure out of its
/// bounds.
[[nodiscard]] Result<std::vector<DrafterExpectation>> parse_expectations(std::string_view text);
[[nodiscard]] std::string expectations_text(const std::vector<DrafterExpectation>& expectations);

/// Acceptance and step cost that explain a measured chain of draft tokens, if all tokens were alike and each
/// further row of a verification cost 0.03 of a vanilla round (Leviathan et al. 2023, equation 1, solved for
/// α). None if no tokens or all tokens were accepted, or nothing was drafted.
struct StepFigures {
  double acceptance = 0.0;
  double step_cost = 0.0;
};
[[nodiscard]] std::optional<StepFigures> step_figures(const Measurement& measured);

/// Adds to `automatic` the exits, the skip set and the formats with which the policy's best settings draft,
/// and their measurements as `expected`, unless it already specifies them. The result needs the file no more.
[[nodiscard]] Result<StrategySpecification> with_policy(const StrategySpecification& automatic,
                                                        const PolicyFile& policy, std::int32_t n_layers);

/// Applies the policy file that the parameter `policy` names, as with_policy() does; returns `automatic`
/// unchanged if it names none. Errors: those of with_policy(), a file that is no finished policy, or one for
/// a model of another shape.
[[nodiscard]] Result<StrategySpecification> with_policy_read(const StrategySpecification& automatic,
                                                             const ModelShape& shape);

/// The target's weights in memory: which formats can be made in addition, and how wide they are.
struct HeldTarget {
  std::vector<WeightFormat> formats;  ///< Formats that its backend makes in addition to this target's.
  bool holds_one_copy = false;        ///< Whether only one copy fits, because a GPU's memory is short.
  double bits = 16.0;                 ///< Bits per weight of the format that most weights have.
  bool has_next_token_layer = false;  ///< Whether the checkpoint has a next-token layer.
};
/// Describes a target from `device`, "cpu" or "cuda", and `weights`, the formats of its matrices in order of
/// their share, as "q4_1, q8_0". It assumes that the backend makes all its formats.
[[nodiscard]] HeldTarget held_target(std::string_view device, std::string_view weights);

/// A part of the model that may draft.
struct AutoDrafter {
  /// "q8_0", "exit 8", "skip set": the origin of the layer sets of its rounds; "next-token layer" has none.
  std::string name;
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< Weight format; none = the target's own.
  ExpectedDrafter expected;

  [[nodiscard]] bool is_next_token_layer() const { return name == next_token_layer_name; }
};

/// The drafters: exits, the skip set, and those listed formats that are narrower than the target's and that
/// its backend makes in addition to it, and the next-token layer. Where only one copy fits, fp8 replaces the
/// others if the backend makes it. Errors: an invalid exit, layer or format.
[[nodiscard]] Result<std::vector<AutoDrafter>> auto_drafters(const StrategySpecification& automatic,
                                                             std::int32_t n_layers, const HeldTarget& target);

/// The rule's options with these drafters, in their order.
[[nodiscard]] AutoOptions auto_options(const StrategySpecification& automatic,
                                       std::span<const AutoDrafter> drafters);

}  // namespace draftscope::speculation
