// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The report as text for a terminal.

#include <string>

#include <draftscope/simulator/figures/measured_recording.h>
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ReportOptions {
  bool by_category = false;
  bool tables_only = false;  ///< no charts and no explanations
};

[[nodiscard]] std::string report_text(const simulator::MeasuredRecording& measured,
                                      const ReportOptions& options, const Glyphs& glyphs);

/// "1.52×", "1 (baseline)" or a dash.
[[nodiscard]] std::string speedup_cell(const simulator::Figures& figures,
                                       const simulator::RecordingFigures& all, const Glyphs& glyphs);

/// "1.42–1.57", or a dash with too few prompts.
[[nodiscard]] std::string interval_cell(const std::optional<simulator::Speedup>& speedup,
                                        const Glyphs& glyphs);

/// "yes", "no (2 of 12)", or a dash.
[[nodiscard]] std::string identity_cell(const std::optional<simulator::OutputIdentity>& identity,
                                        const Glyphs& glyphs);

}  // namespace draftscope::cli
