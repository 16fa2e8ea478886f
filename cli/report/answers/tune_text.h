// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What `draftscope tune` says when it is done.

#include <draftscope/engine/tuning/policy.h>
#include <string>

namespace draftscope::cli {

/// Summary of a finished policy, in `file`.
[[nodiscard]] std::string tune_text(const engine::Policy& policy, const std::string& file);

}  // namespace draftscope::cli
