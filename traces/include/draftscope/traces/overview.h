// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The overview of a recording: sums of its rows, stored when it is closed. A viewer uses it to show a large
// recording before it has read the rows. It contains no information beyond the rows (traces/SCHEMA.md).

#include <draftscope/traces/records.h>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::traces {

/// The kind of rows on a lane of the timeline.
enum class LaneOf : std::uint8_t { requests, rounds, decisions, spans, kernels };
inline constexpr int lane_of_count = 5;
[[nodiscard]] std::string_view lane_of_name(LaneOf lane);

/// Duration of the rows of one lane and phase within one column of time. Overlapping rows count separately.
struct LaneColumn {
  LaneOf lane = LaneOf::requests;
  std::int64_t owner = 0;     ///< Run of requests and rounds, track of spans and kernels; 0 for decisions.
  std::int32_t depth = 0;     ///< Depth of spans; 0 for others.
  std::int64_t start_ns = 0;  ///< Start of the column.
  /// Control for a request, optimise for a decision; for a round draft if that took longer than verification,
  /// otherwise verify.
  Phase phase = Phase::control;
  std::int64_t busy_ns = 0;
};

/// The rounds of a run that start within one column of time.
struct RoundColumn {
  RunId run_id;
  std::int64_t start_ns = 0;  ///< Start of the column.
  std::int64_t rounds = 0;
  std::int64_t emitted = 0;
  std::int32_t max_emitted = 0;  ///< Maximum tokens that one of the rounds emitted.
};

/// Sums over the rounds of a request. A request without rounds has no row.
struct RequestSum {
  RequestId request_id;
  std::int64_t rounds = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  std::int64_t emitted = 0;
  std::int64_t draft_steps = 0;  ///< Sum of the tree depths.
  /// Sublayers that the drafts ran: tree depth times the layer set's sublayers that are not skipped. Without
  /// a layer set, it is tree depth times two for each layer below the exit.
  std::int64_t draft_sublayers = 0;
  std::int64_t rounds_ns = 0;  ///< Sum of the durations from start to end.
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t accept_ns = 0;
  std::int64_t optimise_ns = 0;
  std::int64_t control_ns = 0;
};
/// Adds a round to all but the sublayers of drafts. Sums that overflow stay at the limits of their type.
void add_round(RequestSum& sum, const Round& round);

/// The overview of a recording. Reading only checks that it has the form of the tables; Reader::validate()
/// checks whether it agrees with the rows.
struct Overview {
  std::int64_t column_ns = 0;        ///< A power of two; columns start at its multiples.
  std::vector<LaneColumn> lanes;     ///< Ordered by (lane, owner, depth, start_ns, phase); at most 2^20.
  std::vector<RoundColumn> rounds;   ///< Ordered by (run, start_ns); at most 2^20.
  std::vector<RequestSum> requests;  ///< Ordered by request.
};

}  // namespace draftscope::traces
