// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>

namespace draftscope::simulator {

/// Same as rows_by_run(), but with requests and prompts only: rounds, draft tokens and spans are not read.
[[nodiscard]] std::vector<RunRows> finished_requests(const traces::Recording& recording);

/// Sums over the request's rounds: the stored sums, or those of its rows, without `draft_sublayers`.
/// `accepted` counts up to the text's end (traces/text_share.h).
[[nodiscard]] traces::RequestSum sum_of_rounds(const RequestRows& rows);

/// Tokens that the rounds of sum_of_rounds() gave to the text, an end-of-sequence token included.
[[nodiscard]] std::int64_t tokens_in_text(const traces::RequestSum& sum, traces::RequestStop stop);

}  // namespace draftscope::simulator
