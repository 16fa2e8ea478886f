// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A question on every GPU that has a specification: what it would bring there, and whether the model fits.
// Knows no Qt.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

struct GpuAnswer {
  std::string gpu;
  std::string refusal;  ///< why there is no answer; empty if there is
  double speedup = 0.0;
  std::optional<simulator::Interval> interval_95;
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
  std::optional<double> needed_bytes;  ///< of each GPU; absent where the question contradicts itself
  std::optional<double> usable_bytes;  ///< absent where the specification does not say

  /// Absent where it is not known.
  [[nodiscard]] std::optional<bool> fits() const {
    return needed_bytes && usable_bytes ? std::optional(*needed_bytes <= *usable_bytes) : std::nullopt;
  }
};

/// The fastest first, by speedup over vanilla decoding there; those without an answer last, in the table's
/// order. Empty if `should_continue`, which is asked before each, says no.
[[nodiscard]] std::vector<GpuAnswer> on_all_gpus(const TrainedRecording& trained, const Question& question,
                                                 const std::function<bool()>& should_continue = {});

}  // namespace draftscope::gui
