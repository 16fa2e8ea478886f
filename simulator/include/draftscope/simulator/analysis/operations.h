// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of a device per operation, as programs timed themselves; per launch where they did not.
//
// The time of an operation goes from the end of the previous operation of the same launch to the end of its
// own last block, so it includes the barrier between them. Blocks that finish early wait for the last one.
//
// All functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/attribution.h>
#include <draftscope/traces/reader.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace draftscope::simulator {

/// Tracks whose rows give the time of each operation: those of kind "operations", or without any "stream".
struct OperationTracks {
  std::unordered_set<traces::TrackId> ids;
  bool timed_by_device = false;
};
[[nodiscard]] OperationTracks operation_tracks(const traces::Recording& recording);

/// Attributes time to the rows of a track by the law of attribution.h. Where programs timed their operations,
/// an operation also has the time since the previous one of its launch. Rows must come in order of start.
class OperationClock {
 public:
  explicit OperationClock(bool timed_by_device) : timed_by_device_(timed_by_device) {}
  [[nodiscard]] AttributedTime attribute(std::int64_t start_ns, std::int64_t end_ns, traces::SpanId span);
  /// Nanoseconds attributed to the row.
  [[nodiscard]] std::int64_t add(const traces::Kernel& row) {
    return attribute(row.start_ns, row.end_ns, row.span_id).ns();
  }

 private:
  bool timed_by_device_;
  Attribution attribution_;
  traces::SpanId span_;
};

/// Executions of one operation in the rounds of one run's finished requests, in one phase.
struct OperationFigures {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::string name;
  std::int64_t executions = 0;
  std::int64_t ns = 0;
  std::int64_t before_ns = 0;  ///< Part of `ns` until the first block began (barrier or launch).
  std::int64_t wait_ns = 0;    ///< Part of `ns`: mean time that a block waited for the last one.
  std::int64_t bytes = 0;      ///< Bytes that it must read; 0 = not known.

  /// 10⁹ bytes per second; absent where bytes are not known.
  [[nodiscard]] std::optional<double> rate_gb_s() const;
};

/// Breakdown of the time of one run's operations of one phase, as shares of `ns`.
struct TimeOfOperations {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::int64_t ns = 0;
  std::optional<double> reading;  ///< Share of reading alone; absent where bytes or bandwidth are unknown.
  double before = 0.0;            ///< Share before operations begin.
  double waiting = 0.0;           ///< Share of waiting for the last block.
  std::string longest;            ///< Name of the longest operation.
  double longest_share = 0.0;
};

struct RecordedOperations {
  bool timed_by_device = false;
  std::vector<OperationFigures> rows;  ///< Ordered by run, phase and falling time; empty without a device.
  std::optional<double> read_gb_s;  ///< Bandwidth that reading alone reaches on the recorded GPU, if known.
};

/// Errors: unreadable tables.
[[nodiscard]] Result<RecordedOperations> read_operations(traces::Reader& reader,
                                                         const traces::Recording& recording);

/// One element per run and phase, in order of the rows.
[[nodiscard]] std::vector<TimeOfOperations> times_of(const RecordedOperations& operations);

// Time of attention, MLP and head in each phase of a run's rounds, as Draft & Verify adds it up (Table 5): by
// a device's operations, or by the processor's spans of `record --level ops`.

/// Names of the kinds: a sublayer's norm and projections belong to it.
inline constexpr std::array<std::string_view, 3> operation_kinds{"attention", "MLP", "head"};

struct OperationTimes {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::array<std::int64_t, operation_kinds.size()> ns{};  ///< [kind], rounds only: without the prefill.
};

/// One element for each run and phase with such operations, ordered by both; empty if none was recorded.
/// Errors: unreadable tables.
[[nodiscard]] Result<std::vector<OperationTimes>> read_operation_times(traces::Reader& reader,
                                                                       const traces::Recording& recording);

}  // namespace draftscope::simulator
