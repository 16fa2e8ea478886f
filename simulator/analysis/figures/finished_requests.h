// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>
#include <vector>

namespace draftscope::simulator {

/// rows_by_run() with requests and prompts alone: their rounds, draft tokens and spans are not looked at.
[[nodiscard]] std::vector<RunRows> finished_requests(const traces::Recording& recording);

}  // namespace draftscope::simulator
