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
  MadeBy made_by = MadeBy::none;
  double bits = 16.0;  ///< of a weight, in what most weights are held in
};
/// `device`: "cpu" or "cuda"; `weights`: formats of the matrices, most weights first, as "q4_1, q8_0".
[[nodiscard]] HeldTarget held_target(std::string_view device, std::string_view weights);

/// A part of the model that may draft.
struct AutoDrafter {
  std::string name;  ///< "q8_0", "exit 8", "skip set": the origin of its rounds' layer sets
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< none = the target's own
  ExpectedDrafter expected;
};

/// Exits, the skip set, and of the formats those that are narrower than the target's and that its backend
/// makes; on a GPU fp8 instead of q8_0 where both are listed. Errors: an exit, a layer or a format that is
/// none.
[[nodiscard]] Result<std::vector<AutoDrafter>> auto_drafters(const StrategySpecification& automatic,
                                                             std::int32_t n_layers, const HeldTarget& target);

/// The rule's options with these drafters, in their order.
[[nodiscard]] AutoOptions auto_options(const StrategySpecification& automatic,
                                       std::span<const AutoDrafter> drafters);

}  // namespace draftscope::speculation
