// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Comparison of recordings, for a terminal and for programs (keys: cli/OUTPUT.md).

#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/what_is_traced.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftscope/simulator/analysis/measured_recording.h>
#include "report/report_json.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

/// One recording compared with the first.
struct RecordingComparison {
  std::vector<simulator::MetaDifference> meta;
  std::vector<simulator::RunComparison> runs;
  std::optional<simulator::TracingCost> tracing;  ///< Cost of the finer device trace.
};

struct Comparisons {
  std::vector<simulator::MeasuredRecording> recordings;
  std::vector<RecordingComparison> against_first;  ///< Comparisons of recordings 1, 2, …
};

[[nodiscard]] std::string compare_text(const Comparisons& comparisons, const Glyphs& glyphs);
[[nodiscard]] std::string compare_json(const Comparisons& comparisons);
/// CSV with one line per run of every recording, with its ratio to the same run of the first recording.
[[nodiscard]] std::string compare_csv(const Comparisons& comparisons);

/// Verdict on a difference: "faster", "slower", "no clear difference" (adjusted p ≥ 0.05), "too few prompts".
[[nodiscard]] std::string verdict(double ratio, const std::optional<double>& adjusted_p_value);

}  // namespace draftscope::cli
