// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Counts of draft tokens by confidence and fate, over any stretch of rounds without walking their
// tokens: what the confidence view shows from afar. Exact.
//
// Memory: 12.5 bytes a round. Immutable once built.

#include <array>
#include <cstdint>
#include <vector>

#include "data/rounds/draft_confidences.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

/// Bins of equal width over [0, 1]; the last has 1 itself.
inline constexpr std::size_t confidence_bins = 100;
[[nodiscard]] std::size_t confidence_bin(float confidence);

/// [fate][bin]
using DensityCounts = std::array<std::uint32_t, draft_fates * confidence_bins>;
[[nodiscard]] inline std::uint32_t& count_of(DensityCounts& counts, DraftFate fate, std::size_t bin) {
  return counts[static_cast<std::size_t>(fate) * confidence_bins + bin];
}
[[nodiscard]] inline std::uint32_t count_of(const DensityCounts& counts, DraftFate fate, std::size_t bin) {
  return counts[static_cast<std::size_t>(fate) * confidence_bins + bin];
}

class DraftDensity {
 public:
  /// Rounds per block: stretches whose ends are its multiples are cheapest.
  static constexpr std::size_t block = 128;

  DraftDensity() = default;
  /// O(rounds + draft tokens).
  explicit DraftDensity(const DraftConfidences& drafts);

  /// Counts of the rounds [first, last) of the run that this was built of; tokens without a confidence count
  /// nowhere. O(tokens of 128 rounds + log rounds).
  [[nodiscard]] DensityCounts count(const DraftConfidences& drafts, std::size_t first,
                                    std::size_t last) const;

 private:
  SumPyramid<std::uint32_t> pyramid_;
};

/// Acceptance of draft tokens of some confidence, among those that the verifier got to.
struct CalibrationBin {
  double from = 0.0;
  double to = 0.0;
  double mean_confidence = 0.0;  ///< each taken for the middle of its bin of 0.01
  std::int64_t tested = 0;
  std::int64_t accepted = 0;
};

/// Ten of equal width over [0, 1]; empty ones are left out.
[[nodiscard]] std::vector<CalibrationBin> calibration(const DensityCounts& counts);

}  // namespace draftscope::gui
