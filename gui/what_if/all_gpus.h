// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks a question on every GPU with a known specification: its speed there, and whether the model fits.
// Independent of Qt.

#include <draftscope/simulator/answers/measured_beside.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

struct GpuAnswer {
  std::string gpu;
  std::string refusal;  ///< Why there is no answer; empty if there is one.
  double speedup = 0.0;
  std::optional<simulator::Interval> interval_95;
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
  std::optional<double> needed_bytes;  ///< Same for each GPU; absent where the question contradicts itself.
  std::optional<double> usable_bytes;  ///< Absent where the specification does not say.
  /// The measured run beside this answer; only of the recorded GPU, as it was recorded.
  std::optional<simulator::MeasuredBeside> beside;

  /// Whether the model fits; absent where that is not known.
  [[nodiscard]] std::optional<bool> fits() const {
    return needed_bytes && usable_bytes ? std::optional(*needed_bytes <= *usable_bytes) : std::nullopt;
  }
};

/// Answers for all GPUs, the fastest first, by speedup over vanilla decoding there; those without an answer
/// are last, in the table's order. Empty if `should_continue`, asked before each GPU, returns false.
[[nodiscard]] std::vector<GpuAnswer> on_all_gpus(const TrainedRecording& trained, const Question& question,
                                                 const std::function<bool()>& should_continue = {});

}  // namespace draftscope::gui
