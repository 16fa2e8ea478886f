// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Why each run of a recording is as fast as it is, as `draftscope explain` says it: with the recording that
// it points into. Immutable once made.

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
  std::vector<simulator::Diagnosis> runs;  ///< One of every run but the vanilla one.
  Remedies remedies = Remedies::named;

  /// Null for the vanilla run.
  [[nodiscard]] const simulator::Diagnosis* of(std::size_t run_index) const;
};

using DiagnosisPointer = std::shared_ptr<const RecordingDiagnosis>;

/// The recording has its rows. Where the simulator can't be asked, the sentences say why.
[[nodiscard]] DiagnosisPointer diagnose(const RecordingPointer& recording, Remedies remedies);

}  // namespace draftscope::gui
