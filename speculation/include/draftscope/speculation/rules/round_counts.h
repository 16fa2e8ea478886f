// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace draftscope::speculation {

/// The numbers of a round that rules for lengths and thresholds go by. The span lives as long as the call.
struct RoundCounts {
  std::int32_t planned = 0;   ///< γ as planned, before the cut at budget, context and width
  std::int32_t drafted = 0;   ///< draft steps; siblings of a tree do not count
  std::int32_t accepted = 0;  ///< draft tokens, before a cut at the end of the text
  /// Confidences of the draft steps in order, as far as they are known: those of the accepted tokens and of
  /// the first that was not, if there is one, always are.
  std::span<const double> confidences;
};

}  // namespace draftscope::speculation
