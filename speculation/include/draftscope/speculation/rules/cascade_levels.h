// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The drafters of a cascade that are parts of the target: "0.4+0.6", "exit-8+0.4", "q8_0+0.5/q4_0".

#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

struct CascadeLevel {
  std::string name;  ///< as it was written
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< none = the target's own
};

/// The levels of a list, in its order; none of "none" or an empty text. A level is a share of whole layers
/// that are left out, evenly over the depth and never the first or the last ("0.4"), an early exit behind so
/// many layers ("exit-8"), weights of fewer bits ("q4_0"), or one of the former with such weights
/// ("0.4/q4_0"). Errors: anything else, more than eight.
[[nodiscard]] Result<std::vector<CascadeLevel>> cascade_levels(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::speculation
