// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The slices of one timeline lane, column by column: about 30 bytes a slice, so that ten million fit
// anywhere. Sorted by start, and no two overlap: what overlaps has lanes of its own (timeline.h). Times are
// nanoseconds of the recording's clock, intervals are half-open. Immutable once built, free to read from
// several threads.

#include <draftscope/traces/records.h>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace draftscope::gui {

/// Index that says that there is none.
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

struct TimeRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  [[nodiscard]] std::int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const TimeRange& a, const TimeRange& b) {
    return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
  }
};

/// One slice, as it is added and shown.
struct LaneSlice {
  TimeRange time;
  std::uint32_t name = 0;                ///< index into Timeline::names
  std::uint32_t round_index = no_index;  ///< index into Recording::rounds
  std::int64_t row_id = 0;               ///< id of the request, round, decision, span or kernel; 0 = none
  std::int16_t layer = -1;
  traces::Phase phase = traces::Phase::control;
};

class LaneSlices {
 public:
  /// Adds slices in the order of their start, each at or after the end of the one before.
  void add(const LaneSlice& slice);
  /// Puts another's behind its own, in their order.
  void append(LaneSlices&& later);
  /// The slices in another order: place i has what was at order[i].
  [[nodiscard]] LaneSlices reordered(const std::vector<std::uint32_t>& order) const;
  /// Changes the round index of each slice, by translate(index).
  template <typename Translate>
  void translate_rounds(Translate translate) {
    for (std::uint32_t& index : round_index_) index = translate(index);
  }

  [[nodiscard]] std::size_t size() const { return start_ns_.size(); }
  [[nodiscard]] std::int64_t start_ns(std::size_t index) const { return start_ns_[index]; }
  [[nodiscard]] std::int64_t end_ns(std::size_t index) const { return end_ns_[index]; }
  [[nodiscard]] traces::Phase phase(std::size_t index) const { return phase_[index]; }
  [[nodiscard]] std::uint32_t name(std::size_t index) const { return name_[index]; }
  [[nodiscard]] std::uint32_t round_index(std::size_t index) const { return round_index_[index]; }
  [[nodiscard]] std::uint32_t row_id(std::size_t index) const { return row_id_[index]; }
  [[nodiscard]] LaneSlice operator[](std::size_t index) const;

  // O(log size); size() if there is none.
  [[nodiscard]] std::size_t first_ending_after(std::int64_t time_ns) const;
  [[nodiscard]] std::size_t first_starting_at(std::int64_t time_ns) const;  ///< or later

  /// Bytes that the slices take; memory reserved beyond them has not been touched.
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Calls action(column of a, the same column of b) for each.
  template <typename A, typename B, typename Action>
  static void for_each_column(A& a, B& b, Action action);

  std::vector<std::int64_t> start_ns_;
  std::vector<std::int64_t> end_ns_;
  std::vector<std::uint32_t> name_;
  std::vector<std::uint32_t> round_index_;
  std::vector<std::uint32_t> row_id_;
  std::vector<std::int16_t> layer_;
  std::vector<traces::Phase> phase_;
};

}  // namespace draftscope::gui
