// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every drafted token of a run with its confidence, in the order of the rounds, as columns: 5 bytes a token,
// so that millions are drawn within a frame. With the sums that trends over rounds need. Immutable once
// built.

#include <array>
#include <cstdint>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class DraftFate : std::uint8_t {
  accepted,
  rejected,  ///< the verifier got to it and the target disagreed
  untested,  ///< behind a rejected one
};

struct DraftConfidences {
  std::vector<float> confidence;     ///< [draft token]; not a number where none was recorded
  std::vector<DraftFate> fate;       ///< [draft token]
  std::vector<std::uint32_t> first;  ///< [place of the round, and one behind the last] its first draft token
  std::vector<std::uint32_t> accepted;   ///< [as first] accepted before this round
  std::vector<float> threshold;          ///< [place]; negative where the strategy has none
  std::vector<std::int32_t> exit_layer;  ///< [place]; 0 where nothing was drafted
  std::int32_t deepest_exit = 0;
  bool has_threshold = false;

  [[nodiscard]] std::size_t rounds() const { return threshold.size(); }
  /// α of the rounds [begin, end); not a number if they drafted nothing.
  [[nodiscard]] double acceptance_rate(std::size_t begin, std::size_t end) const;
};

[[nodiscard]] DraftConfidences draft_confidences(const OpenedRecording& opened, std::size_t run);

/// How often draft tokens of some confidence were accepted, among those that the verifier got to.
struct CalibrationBin {
  double from = 0.0;
  double to = 0.0;
  double mean_confidence = 0.0;
  std::int64_t tested = 0;
  std::int64_t accepted = 0;
};

/// `bins` of equal width over [0, 1]; empty ones are left out.
[[nodiscard]] std::vector<CalibrationBin> calibration(const DraftConfidences& drafts, std::size_t first_round,
                                                      std::size_t last_round, int bins = 10);

}  // namespace draftscope::gui
