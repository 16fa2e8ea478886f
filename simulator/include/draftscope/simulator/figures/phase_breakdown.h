// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the wall time of an interval went: interval union with a fixed priority (the order of traces::Phase),
// never a sum of durations. Exact in integers: the entries add up to the interval.

#include <draftscope/traces/records.h>
#include <array>
#include <cstdint>
#include <span>

namespace draftscope::simulator {

/// Nanoseconds by phase; [Phase::idle] is what no phase covers.
using Breakdown = std::array<std::int64_t, traces::phase_count>;

/// Phase spans (depth 0) clipped to [start_ns, end_ns). Other depths are ignored. O(n log n) in the spans.
[[nodiscard]] Breakdown phase_breakdown(std::span<const traces::Span> spans, std::int64_t start_ns,
                                        std::int64_t end_ns);

}  // namespace draftscope::simulator
