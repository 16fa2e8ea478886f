// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report --by operation`: where a device's time goes, by run, phase and operation.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/operations.h>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// `tables_only`: without explanations.
[[nodiscard]] std::string operations_text(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations, bool tables_only,
                                          const Glyphs& glyphs);
[[nodiscard]] std::string operations_json(const simulator::MeasuredRecording& measured,
                                          const simulator::RecordedOperations& operations);
/// One line an operation of a run and phase.
[[nodiscard]] std::string operations_csv(const simulator::MeasuredRecording& measured,
                                         const simulator::RecordedOperations& operations);

}  // namespace draftscope::cli
