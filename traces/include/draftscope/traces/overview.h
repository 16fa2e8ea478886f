// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The overview of a recording: sums of its rows that closing stores, from which a viewer shows a large
// recording before it has read the rows. It says nothing that the rows do not say (traces/SCHEMA.md).

#include <draftscope/traces/records.h>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::traces {

/// The kind of rows on a lane of the timeline.
enum class LaneOf : std::uint8_t { requests, rounds, decisions, spans, kernels };
inline constexpr int lane_of_count = 5;
[[nodiscard]] std::string_view lane_of_name(LaneOf lane);

/// Time that the rows of one lane and phase lasted within one column of time. Rows that overlap count each.
struct LaneColumn {
  LaneOf lane = LaneOf::requests;
  std::int64_t owner = 0;     ///< run of requests and rounds, track of spans and kernels; 0 for decisions
  std::int32_t depth = 0;     ///< of spans; 0 for others
  std::int64_t start_ns = 0;  ///< of the column
  /// A request's is control, a decision's optimise, a round's draft if that took longer than verification,
  /// else verify.
  Phase phase = Phase::control;
  std::int64_t busy_ns = 0;
};

/// The rounds of a run that start within one column of time.
struct RoundColumn {
  RunId run_id;
  std::int64_t start_ns = 0;  ///< of the column
  std::int64_t rounds = 0;
  std::int64_t emitted = 0;
  std::int32_t max_emitted = 0;  ///< by one of them
};

/// Sums over the rounds of a request. One without rounds has no row.
struct RequestSum {
  RequestId request_id;
  std::int64_t rounds = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  std::int64_t emitted = 0;
  std::int64_t draft_steps = 0;  ///< of the tree depths
  /// Sublayers that the drafts ran: tree depth times those of the layer set that are not skipped, or times
  /// two for each layer below the exit where there is no layer set.
  std::int64_t draft_sublayers = 0;
  std::int64_t rounds_ns = 0;  ///< from start to end of each
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t accept_ns = 0;
  std::int64_t optimise_ns = 0;
  std::int64_t control_ns = 0;
};

/// The overview of a recording. Reading checks only that it has the form of the tables; whether it agrees
/// with the rows is for Reader::validate() to say.
struct Overview {
  std::int64_t column_ns = 0;        ///< a power of two; columns start at its multiples
  std::vector<LaneColumn> lanes;     ///< ordered by (lane, owner, depth, start_ns, phase); at most 2^20
  std::vector<RoundColumn> rounds;   ///< ordered by (run, start_ns); at most 2^20
  std::vector<RequestSum> requests;  ///< ordered by request
};

}  // namespace draftscope::traces
