// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording as if only some of its requests had been recorded: what a prediction may learn from, so that
// what it is checked against was never seen.

#include <draftscope/traces/reader.h>
#include <functional>

namespace draftscope::simulator {

/// Choice of requests, each with the run and the prompt that it belongs to.
using RequestFilter = std::function<bool(const traces::Run&, const traces::Prompt&, const traces::Request&)>;

/// A copy with the requests that `keep` accepts, their rounds and draft tokens, and the runs that still have
/// a request; everything else as it was. Requests that refer to no run or prompt are left out. What reads
/// spans, kernels or shadow tokens by this recording's requests leaves out the others' too. O(rows).
[[nodiscard]] traces::Recording only_requests(const traces::Recording& recording, const RequestFilter& keep);

}  // namespace draftscope::simulator
