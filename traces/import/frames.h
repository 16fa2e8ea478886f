// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns a timeline's intervals on a thread into rows of requests and rounds. A round belongs to the request
// of its thread that contains it in time.

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/intervals.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {

/// Bad events of a timeline that were passed over.
struct LeftOut {
  std::int64_t count = 0;
  std::string first;  ///< Error of the first.

  void add(std::string error) {
    if (count++ == 0) first = std::move(error);
  }
};

/// A request's row, without its run and prompt; assign() gives the id.
struct RequestFrame : Request {
  std::uint32_t lane = 0;
  std::string specification;
  std::int64_t question_id = 0;
  std::int64_t n_tokens = -1;  ///< Number of tokens; -1 = unknown.
};

/// A round's row, without ids. Where the file does not say a tree's depth, it is the most that the counts
/// allow.
struct RoundFrame : Round {
  std::int64_t number = 0;  ///< The file's round number; 0 = none.
  std::uint32_t lane = 0;
  bool has_lengths = false;  ///< Whether planned, drafted, accepted and emitted are known.
};

/// Rows of both tables that contain an interval.
struct FrameRows {
  RequestId request_id;
  RoundId round_id;
};

class Frames {
 public:
  void add(RequestFrame frame) { requests_.push_back(std::move(frame)); }
  void add(const RoundFrame& frame) { rounds_.push_back(frame); }
  [[nodiscard]] bool empty() const { return requests_.empty() && rounds_.empty(); }

  /// Sorts the frames, finds each round's request and assigns ids from the beginning of their tables. Errors
  /// name the file: a round outside of every request of its thread, a round that occurs twice, rounds or
  /// requests of a thread that overlap. If `left_out` is there, such frames are counted and passed over
  /// instead.
  [[nodiscard]] Result<void> assign(Writer& writer, const std::string& name, LeftOut* left_out = nullptr);

  // The functions below may be called after assign().

  /// The rows whose intervals on that thread contain [start_ns, end_ns). O(log n).
  [[nodiscard]] FrameRows holding(std::uint32_t lane, std::int64_t start_ns, std::int64_t end_ns) const;
  /// The rows of the round with the file's number, which must not be 0.
  [[nodiscard]] FrameRows round_with_number(std::int64_t number) const;

  /// Takes the times of the phases from the spans at depth 0, and writes all rows.
  void write(PacedTrace& target, Intervals& intervals);

 private:
  using Times = std::array<std::int64_t, phase_count>;  // by phase
  void write_requests(PacedTrace& target);
  void write_rounds(PacedTrace& target, const std::vector<Times>& times);

  std::vector<RequestFrame> requests_;
  std::vector<RoundFrame> rounds_;
  std::vector<std::size_t> request_of_;  // by round; a round's id is its index + 1
  std::unordered_map<std::int64_t, std::size_t> by_number_;
};

}  // namespace draftscope::traces
