// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The wall time of runs by phase, of spans that are met once and not kept: for recordings with so many that
// holding them would cost more than all the rest. The answer is that of measure() with the same spans.
//
// Memory: 24 bytes a phase span until the breakdown is done.

#include <draftscope/simulator/figures/figures.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

/// Thread-safety: one thread at a time.
class StreamedPhases {
 public:
  /// In any order; only phases (depth 0) of requests count.
  void add(const traces::Span& span);
  /// What another met.
  void add(StreamedPhases&& other);

  /// Puts the breakdowns into figures that were measured without spans. Runs with a request without spans
  /// keep what they have.
  void complete(const traces::Recording& recording, RecordingFigures& figures);

 private:
  struct Interval {
    std::int64_t start_ns;
    std::int64_t end_ns;
    traces::Phase phase;
  };
  using Intervals = std::vector<Interval>;

  [[nodiscard]] static Breakdown breakdown(Intervals& intervals, std::int64_t start_ns, std::int64_t end_ns);

  std::unordered_map<std::int64_t, Intervals> requests_;
  std::int64_t last_request_ = 0;
  Intervals* last_ = nullptr;  ///< of last_request_
};

}  // namespace draftscope::simulator
