// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Host ranges as a file gives them, in any order, and their conversion into nested spans.
//
// The trace requires spans that nest on a track, siblings that do not overlap, and phases at depth 0.
// Therefore ranges that overlap without nesting go to further tracks of the same name. A range that has no
// phase of its own but contains phases goes to a track "NAME, outer", so that its spans are not mistaken for
// phases.

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "writing/paced_trace.h"

namespace draftscope::traces {

inline constexpr std::int8_t no_phase = -1;
/// Maximum number that a layer of a timeline may have.
inline constexpr std::int64_t max_layer = std::numeric_limits<std::int16_t>::max();

/// A host range in 48 bytes, since there may be millions.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  RoundId round_id;  ///< The file's number until Frames assigns our id.
  RequestId request_id;
  std::uint32_t lane = 0;     ///< The file's thread.
  std::uint32_t name_id = 0;  ///< Id in `strings`.
  std::uint32_t order = 0;    ///< Order in the file; of two equal ranges the first is the outer one.
  std::int16_t layer = -1;
  std::int8_t phase = no_phase;
  bool is_outer = false;  ///< Set by place().
};

/// The place of a range. It has the same index as its Interval after place().
struct Placed {
  std::int64_t parent_index = -1;  ///< Index of the parent; -1 = none.
  TrackId track_id;
  std::uint8_t depth = 0;
  Phase phase = Phase::control;  ///< Its own phase, otherwise that of the nearest outer range with one,
                                 ///< otherwise control.
};

class Intervals {
 public:
  /// Adds a range and returns its number in the order of adding, which place() stores in `order`.
  std::uint32_t add(const Interval& interval);
  [[nodiscard]] std::vector<Interval>& rows() { return rows_; }
  [[nodiscard]] const std::vector<Placed>& placed() const { return placed_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// Sorts by lane and start, nests the ranges, and makes the tracks, named after their lanes. O(n log n).
  /// Errors: more than 255 ranges inside each other or more than 256 that overlap without nesting; `name` is
  /// the file's.
  [[nodiscard]] Result<void> place(Writer& writer, const std::string& name,
                                   const std::vector<std::string>& lane_names);

  /// Writes all ranges as spans, after place(); the row of index i has the id `first_id() + i`.
  void write(PacedTrace& target);
  [[nodiscard]] SpanId span_id(std::size_t index) const {
    return SpanId::from(first_id_.value() + static_cast<std::int64_t>(index));
  }

  /// The innermost range of the lane that contains the time, or nothing, after place(). Where ranges overlap
  /// without nesting, it is one of those around the last that began. O(log n + depth).
  [[nodiscard]] std::optional<std::size_t> innermost(std::uint32_t lane, std::int64_t time_ns) const;

 private:
  void sort();
  [[nodiscard]] Result<void> nest(Writer* writer, const std::string& name,
                                  const std::vector<std::string>& lane_names);
  bool separate_outer_ranges();

  std::vector<Interval> rows_;
  std::vector<Placed> placed_;
  SpanId first_id_;
};

/// The phase of that name; "idle" gives none, because it is never recorded.
[[nodiscard]] std::int8_t phase_named(std::string_view name);

}  // namespace draftscope::traces
