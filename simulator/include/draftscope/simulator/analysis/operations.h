// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a device did, operation by operation: as programs timed themselves, by launches where they did not.
//
// An operation takes from the end of the one before it in the same launch to its own end, that of its last
// block: the barrier between the two is part of it. Blocks that are done wait for the last one.
//
// All functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace draftscope::simulator {

/// Tracks whose rows tell what each operation took: of kind "operations", or without any "stream".
struct OperationTracks {
  std::unordered_set<traces::TrackId> ids;
  bool timed_by_device = false;
};
[[nodiscard]] OperationTracks operation_tracks(const traces::Recording& recording);

/// The time that each row of one track adds to what the track's earlier rows covered. Rows come by start.
class OperationClock {
 public:
  explicit OperationClock(bool timed_by_device) : timed_by_device_(timed_by_device) {}
  /// Nanoseconds; of rows that overlap, an instant is the time of the one that began first.
  [[nodiscard]] std::int64_t add(const traces::Kernel& row);

 private:
  bool timed_by_device_;
  std::int64_t until_ns_ = 0;
  traces::SpanId span_;
};

/// Executions of one operation in the rounds of one run and one phase.
struct OperationFigures {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::string name;
  std::int64_t executions = 0;
  std::int64_t ns = 0;
  std::int64_t before_ns = 0;  ///< of ns: until its first block began, be it a barrier or a launch
  std::int64_t wait_ns = 0;    ///< of ns: mean time that a block waited for the last one
  std::int64_t bytes = 0;      ///< that it must read; 0 = not known

  /// 10⁹ bytes a second; absent where bytes are not known.
  [[nodiscard]] std::optional<double> rate_gb_s() const;
};

/// Where the time of one run's operations of one phase goes. Shares of `ns`.
struct TimeOfOperations {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::int64_t ns = 0;
  std::optional<double> reading;  ///< what reading alone would take; absent where bytes or rate are not known
  double before = 0.0;            ///< until operations begin
  double waiting = 0.0;           ///< for the last block
  std::string longest;            ///< operation
  double longest_share = 0.0;
};

struct RecordedOperations {
  bool timed_by_device = false;
  std::vector<OperationFigures> rows;  ///< by run, phase and falling time; none where no device was recorded
  std::optional<double> read_gb_s;     ///< what reading alone reaches on the recorded GPU, if it is known
};

/// Errors: unreadable tables.
[[nodiscard]] Result<RecordedOperations> read_operations(traces::Reader& reader,
                                                         const traces::Recording& recording);

/// One a run and phase, in the order of the rows.
[[nodiscard]] std::vector<TimeOfOperations> times_of(const RecordedOperations& operations);

}  // namespace draftscope::simulator
