// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every drafted token of a run with its confidence, in the order of the rounds, as columns: 5 bytes a token.
// With the sums that trends over rounds need. Immutable once built.

#include <cstdint>
#include <vector>

#include "data/opened_recording.h"
#include "data/value_pyramid.h"

namespace draftscope::gui {

enum class DraftFate : std::uint8_t {
  accepted,
  rejected,  ///< the verifier got to it and the target disagreed
  untested,  ///< after a rejected one
};
inline constexpr std::size_t draft_fates = 3;
[[nodiscard]] DraftFate fate_of(const traces::DraftToken& token);

struct DraftConfidences {
  std::vector<float> confidence;     ///< [draft token]; not a number where none was recorded
  std::vector<DraftFate> fate;       ///< [draft token]
  std::vector<std::uint32_t> first;  ///< [place of the round, and one after the last] its first draft token
  std::vector<std::uint32_t> accepted;  ///< [as first] accepted before this round
  ValuePyramid threshold;               ///< [place]; not a number where the strategy has none
  ValuePyramid exit_layer;              ///< [place]; not a number where nothing was drafted
  std::int32_t deepest_exit = 0;
  bool has_threshold = false;

  [[nodiscard]] std::size_t rounds() const { return threshold.size(); }
  /// α of the rounds [begin, end); not a number if they drafted nothing.
  [[nodiscard]] double acceptance_rate(std::size_t begin, std::size_t end) const;
};

[[nodiscard]] DraftConfidences draft_confidences(const OpenedRecording& opened, std::size_t run_index);

}  // namespace draftscope::gui
