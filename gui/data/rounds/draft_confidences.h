// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every drafted token of a run with its confidence, in the order of the rounds, as columns: 5 bytes per
// token. Includes the sums that trends over rounds need. Counts of draft tokens by confidence and fate, over
// any stretch of rounds without walking their tokens, take 12.5 bytes per round and are exact. Immutable once
// built.

#include <draftscope/simulator/analysis/figures.h>

#include <array>
#include <cstdint>
#include <vector>

#include "data/opened_recording.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

enum class DraftFate : std::uint8_t {
  accepted,
  rejected,  ///< The verifier reached it, and the target disagreed.
  untested,  ///< It came after a rejected token.
};
inline constexpr std::size_t draft_fates = 3;
[[nodiscard]] DraftFate fate_of(const traces::DraftToken& token);

struct DraftConfidences {
  std::vector<float> confidence;        ///< [draft token] NaN where none was recorded.
  std::vector<DraftFate> fate;          ///< [draft token]
  std::vector<std::uint32_t> first;     ///< [place, and one after the last] First draft token.
  std::vector<std::uint32_t> accepted;  ///< [place, and one after the last] Tokens accepted before it.
  ValuePyramid threshold;               ///< [place] NaN where the strategy has none.
  ValuePyramid exit_layer;              ///< [place] NaN where nothing was drafted.
  std::int32_t deepest_exit = 0;
  bool has_threshold = false;

  [[nodiscard]] std::size_t rounds() const { return threshold.size(); }
  /// α of the rounds [begin, end); NaN if they drafted nothing.
  [[nodiscard]] double acceptance_rate(std::size_t begin, std::size_t end) const;
};

[[nodiscard]] DraftConfidences draft_confidences(const OpenedRecording& opened, std::size_t run_index);

/// Bins of equal width over [0, 1]; the last includes 1 itself.
inline constexpr std::size_t confidence_bins = 100;
[[nodiscard]] std::size_t confidence_bin(float confidence);

/// Counts by [fate][bin].
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

  /// Counts of the rounds [first, last) of the run that this was built from. Tokens without a confidence do
  /// not count. O(tokens of 128 rounds + log rounds).
  [[nodiscard]] DensityCounts count(const DraftConfidences& drafts, std::size_t first,
                                    std::size_t last) const;

 private:
  SumPyramid<std::uint32_t> pyramid_;
};

/// Acceptance of draft tokens of some confidence, among those that the verifier reached.
struct CalibrationBin {
  double from = 0.0;
  double to = 0.0;
  double mean_confidence = 0.0;  ///< Each token counts as the middle of its bin of width 0.01.
  std::int64_t tested = 0;
  std::int64_t accepted = 0;
};

/// Ten bins of equal width over [0, 1]; empty bins are left out.
[[nodiscard]] std::vector<CalibrationBin> calibration(const DensityCounts& counts);

// Acceptance of the k-th draft token of a round, over any stretch of rounds without walking them. The counts
// are those of `draftscope report` (simulator/figures), which cover the whole run.
//
/// Memory: 3 bytes per round, and 0.25 per position. Immutable once built.
class AcceptanceByPosition {
 public:
  /// Positions from here on are not counted.
  static constexpr std::int32_t max_positions = 32;

  AcceptanceByPosition() = default;
  AcceptanceByPosition(const OpenedRecording& opened, std::size_t run_index);

  /// Acceptance by position of the rounds [first, last), up to the position of the deepest draft of the run.
  /// O(log rounds).
  [[nodiscard]] std::vector<simulator::PositionAcceptance> count(std::size_t first, std::size_t last) const;

 private:
  struct Path {
    std::uint8_t steps = 0;
    std::uint8_t accepted = 0;
    std::uint8_t reached = 0;  ///< Positions that verification reached, up to the text's end.
  };
  /// Adds a round's counts to a row: for each position drafted, reached, accepted.
  void add_round(std::size_t place, std::span<std::uint32_t> row) const;

  std::vector<Path> paths_;  ///< [place]
  SumPyramid<std::uint32_t> pyramid_;
};

}  // namespace draftscope::gui
