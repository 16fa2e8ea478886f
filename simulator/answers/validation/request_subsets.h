// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A run with only some of its requests.

#include <draftscope/simulator/analysis/run_rows.h>
#include <algorithm>
#include <cstdint>
#include <iterator>

namespace draftscope::simulator {

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
