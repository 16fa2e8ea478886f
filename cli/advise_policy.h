// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Advice as a policy file, in the form that `draftscope tune` writes and the strategy `tuned` reads.

#include <draftscope/engine/policy.h>
#include <draftscope/result.h>
#include <draftscope/simulator/advice.h>
#include <filesystem>
#include <string>

namespace draftscope::cli {

/// The advised strategy with its predicted figures, and where they come from: `trace` and its hash, the
/// machine, the date. Errors: a verdict to measure first, which advises nothing yet; a policy file as the
/// strategy; a recording that lacks its model's identity; an unreadable trace.
[[nodiscard]] Result<engine::Policy> advised_policy(const simulator::Advice& advice,
                                                    const traces::Recording& recording,
                                                    const std::filesystem::path& trace,
                                                    const std::string& command_line);

}  // namespace draftscope::cli
