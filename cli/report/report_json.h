// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The report for programs; cli/OUTPUT.md describes every key. What is absent is null (JSON) or empty (CSV).

#include <string>

#include <draftscope/simulator/analysis/measured_recording.h>

namespace draftscope::cli {

[[nodiscard]] std::string report_json(const simulator::MeasuredRecording& measured, bool by_category);

/// One line a run, or a run and category.
[[nodiscard]] std::string report_csv(const simulator::MeasuredRecording& measured, bool by_category);

}  // namespace draftscope::cli
