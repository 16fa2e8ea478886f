// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording restricted to some of its requests, for training without the data that the prediction is
// checked against.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>

namespace draftscope::simulator {

/// Selects requests, each with its run and prompt.
using RequestFilter = std::function<bool(const traces::Run&, const traces::Prompt&, const traces::Request&)>;

/// A copy with the requests that `keep` accepts, their rounds and draft tokens, and the runs that still have
/// a request; everything else is unchanged. Requests that refer to no run or prompt are left out. Readers of
/// spans, kernels or shadow tokens by this recording's requests leave out the others' too. O(rows).
[[nodiscard]] traces::Recording only_requests(const traces::Recording& recording, const RequestFilter& keep);

template <typename Keep>
[[nodiscard]] RunRows requests_where(const RunRows& run, const Keep& keep) {
  RunRows subset{run.run, {}, 0};
  std::copy_if(run.requests.begin(), run.requests.end(), std::back_inserter(subset.requests),
               [&](const RequestRows& rows) { return keep(*rows.request); });
  return subset;
}

[[nodiscard]] inline RunRows only_repeat(const RunRows& run, std::int32_t repeat) {
  return requests_where(run, [repeat](const traces::Request& request) { return request.repeat == repeat; });
}

}  // namespace draftscope::simulator
