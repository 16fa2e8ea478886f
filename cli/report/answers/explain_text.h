// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Diagnoses as `draftscope explain` prints them.

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct ExplainedRecording {
  const simulator::MeasuredRecording* measured = nullptr;
  std::vector<simulator::Diagnosis> diagnoses;
};

/// Text of the diagnoses. Lines have at most 100 columns and fit the terminal, unless a single word is
/// longer. With `quiet`, findings lack where to look and what to try, and checks without a verdict are left
/// out.
[[nodiscard]] std::string explain_text(const std::vector<ExplainedRecording>& recordings, bool quiet,
                                       const Glyphs& glyphs);

[[nodiscard]] std::string explain_json(const std::vector<ExplainedRecording>& recordings);

/// Breaks the text at spaces into lines of at most `columns` cells. The first begins with `head`, the others
/// with as many spaces; a longer word has a line of its own.
[[nodiscard]] std::string wrapped(std::string_view head, std::string_view text, std::size_t columns);

}  // namespace draftscope::cli
