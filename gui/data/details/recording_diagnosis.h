// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Diagnosis of the speed of each run of a recording, as `draftscope explain` gives it, with the recording
// that it points into. Immutable once made.

#include <draftscope/simulator/analysis/explain.h>
#include <memory>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// Whether the simulator is asked what remedies would bring, which takes most of the time.
enum class Remedies : std::uint8_t { named, simulated };

struct RecordingDiagnosis {
  RecordingPointer recording;
  std::vector<simulator::Diagnosis> runs;  ///< One per run except the vanilla run.
  Remedies remedies = Remedies::named;

  /// Null for the vanilla run.
  [[nodiscard]] const simulator::Diagnosis* of(std::size_t run_index) const;
};

using DiagnosisPointer = std::shared_ptr<const RecordingDiagnosis>;

/// The recording must have its rows. Where the simulator cannot answer, the sentences say why.
[[nodiscard]] DiagnosisPointer diagnose(const RecordingPointer& recording, Remedies remedies);

}  // namespace draftscope::gui
