// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The report as text for a terminal.

#include <string>

#include <draftscope/simulator/analysis/measured_recording.h>
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ReportOptions {
  bool by_category = false;
  bool tables_only = false;  ///< no charts and no explanations
};

[[nodiscard]] std::string report_text(const simulator::MeasuredRecording& measured,
                                      const ReportOptions& options, const Glyphs& glyphs);

}  // namespace draftscope::cli
