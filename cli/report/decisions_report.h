// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report --decisions`: what strategies decided and why, as text with small charts, and as JSON
// with every value.

#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/speculation/policy_file.h>

#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

[[nodiscard]] std::string decisions_text(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs,
                                         const Glyphs& glyphs);
[[nodiscard]] std::string decisions_json(const simulator::MeasuredRecording& measured,
                                         const std::vector<simulator::RunDecisions>& runs);

/// `draftscope report --decisions POLICY`: how the search went that led to a policy.
[[nodiscard]] std::string history_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
[[nodiscard]] std::string history_json(const speculation::PolicyFile& policy);

}  // namespace draftscope::cli
