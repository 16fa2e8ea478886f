// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Commands that several processes may run together on one model: one of them does the work, the others
// compute their part of each pass.

#include <draftscope/base/result.h>
#include <CLI/CLI.hpp>
#include <functional>

#include "options/model_options.h"

namespace draftscope::cli {

/// --tensor-parallel, --rank-timeout.
void add_rank_options(CLI::App& command, ModelOptions& options);

/// Calls `command` where the options ask for one rank, and on the first of several. The others follow it, and
/// end with its exit: 0, or exit_failure without a line of their own where rank 0 says what failed.
[[nodiscard]] Result<int> on_ranks(ModelOptions& options, const std::function<Result<int>()>& command);

}  // namespace draftscope::cli
