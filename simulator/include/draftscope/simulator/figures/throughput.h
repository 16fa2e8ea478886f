// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens, time, and tokens a second.

#include <draftscope/simulator/figures/run_rows.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

/// Of a set of measured times, in nanoseconds. The median of an even count is the mean of the middle two.
struct TimeSummary {
  double mean_ns = 0.0;
  double median_ns = 0.0;
  double minimum_ns = 0.0;
  double maximum_ns = 0.0;
};

struct Throughput {
  std::int64_t requests = 0;
  std::int64_t unfinished_requests = 0;  ///< left out of every figure
  std::int64_t output_tokens = 0;
  std::int64_t wall_ns = 0;    ///< Σ (end − start), prefill included
  std::int64_t decode_ns = 0;  ///< Σ (end − first token)

  /// Σ output tokens / Σ wall time, prefill included: total over total, not a mean of rates.
  std::optional<double> tokens_per_second;
  /// Σ (output tokens − 1) / Σ (end − first token): the first token is prefill's. Absent if nothing followed
  /// it.
  std::optional<double> decode_tokens_per_second;
  /// first token − start, over the requests that gave a token.
  std::optional<TimeSummary> time_to_first_token;
};

[[nodiscard]] Throughput throughput(const RunRows& run);

}  // namespace draftscope::simulator
