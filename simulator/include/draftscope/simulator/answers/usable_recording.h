// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks whether a recording has the data that questions need. Errors are one line that begins with `name`,
// by which the user knows the file, and say what to record instead. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <string>

namespace draftscope::simulator {

/// Check for any question. Errors: a trace that was predicted; an imported timeline without accepted lengths.
[[nodiscard]] Result<void> check_can_be_asked(const traces::Recording& recording, const std::string& name);

/// Check for a gain over vanilla decoding. Errors: no vanilla run.
[[nodiscard]] Result<void> check_has_vanilla(const traces::Recording& recording, const std::string& name);

/// Check for advice (advice.h). Errors: an imported trace; no vanilla run.
[[nodiscard]] Result<void> check_can_be_advised_on(const traces::Recording& recording,
                                                   const std::string& name);

}  // namespace draftscope::simulator
