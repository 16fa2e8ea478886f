// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The drafters by a part of the model that `auto` has, and its rule's options, as its specification and the
// way in which the target is held say. Engine and simulator number drafters by this list.
//
// Values; the functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/auto/auto_rule.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

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
