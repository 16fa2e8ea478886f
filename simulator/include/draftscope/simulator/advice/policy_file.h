// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A predicted setting as a policy file (speculation/policy_file.h). The tuner measures; here the figures are
// predictions, the slower bound where an answer is bounded, and the file says of which recording, for which
// machine and how sure.

#include <draftscope/base/result.h>
#include <draftscope/simulator/advice/advice.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/speculation/policy_file.h>
#include <filesystem>
#include <string>

namespace draftscope::simulator {

/// Who writes a policy, from what.
struct PolicyOrigin {
  std::filesystem::path trace;
  std::string command_line;
  std::string tool_version;
};

/// The advised strategy. Errors: a verdict to measure first, which advises nothing yet; a policy file as the
/// strategy; a recording that lacks its model's identity; an unreadable trace.
[[nodiscard]] Result<speculation::PolicyFile> advised_policy(const Advice& advice,
                                                             const traces::Recording& recording,
                                                             const PolicyOrigin& origin);

/// A setting that was asked about, whatever it brings. Errors: as above, and an answer for another model than
/// the recorded one, of whose acceptance nothing is known.
[[nodiscard]] Result<speculation::PolicyFile> asked_policy(const Answer& answer, const Machine& machine,
                                                           const traces::Recording& recording,
                                                           const PolicyOrigin& origin);

}  // namespace draftscope::simulator
