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

/// Lines of at most 100 columns, and of at most the terminal's, unless a single word is longer. With `quiet`,
/// findings without where to look, what to try and what could not be judged.
[[nodiscard]] std::string explain_text(const std::vector<ExplainedRecording>& recordings, bool quiet,
                                       const Glyphs& glyphs);

[[nodiscard]] std::string explain_json(const std::vector<ExplainedRecording>& recordings);

/// The text in lines of at most `columns` cells, broken at spaces, the first behind `head`, the others behind
/// as many spaces; a word that is longer has a line to itself.
[[nodiscard]] std::string wrapped(std::string_view head, std::string_view text, std::size_t columns);

}  // namespace draftscope::cli
