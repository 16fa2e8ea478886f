// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report --as`: the runs' figures as a publication counts them, as text, JSON and CSV.

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// Words that `--as` takes: the keys of all conventions, and `all`.
[[nodiscard]] std::vector<std::string> convention_words();

/// The conventions that a word of convention_words() asks for.
[[nodiscard]] std::vector<simulator::ConventionRow> conventions_named(const std::string& word);

[[nodiscard]] std::string conventions_text(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked,
                                           bool tables_only, const Glyphs& glyphs);
[[nodiscard]] std::string conventions_json(const simulator::MeasuredRecording& measured,
                                           const std::vector<simulator::ConventionRow>& asked);
[[nodiscard]] std::string conventions_csv(const simulator::MeasuredRecording& measured,
                                          const std::vector<simulator::ConventionRow>& asked);

}  // namespace draftscope::cli
