// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The slices of one timeline lane, column by column: 22 bytes per slice, so that ten million fit anywhere.
// They are sorted by start, and no two overlap: overlapping slices have separate lanes (timeline.h). Times
// are nanoseconds of the recording's clock, intervals are half-open. Immutable once built; several threads
// may read them.

#include <draftscope/traces/records.h>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/time_range.h"

namespace draftscope::gui {

/// One slice, as it is added and shown.
struct LaneSlice {
  TimeRange time;
  std::uint32_t name = 0;                ///< Index into Timeline::names.
  std::uint32_t round_index = no_index;  ///< Index into Recording::rounds.
  std::int64_t row_id = 0;               ///< Id of the request, round, decision, span or kernel; 0 = none.
  std::int16_t layer = -1;
  traces::Phase phase = traces::Phase::control;
};

class LaneSlices {
 public:
  /// Adds slices in the order of their start, each at or after the end of the previous one.
  void add(const LaneSlice& slice);
  /// Appends the slices of another object, in their order.
  void append(LaneSlices&& later);
  /// The slices in another order: place i has the slice that was at order[i].
  [[nodiscard]] LaneSlices reordered(const std::vector<std::uint32_t>& order) const;
  /// Changes the round index of each slice to translate(index).
  template <typename Translate>
  void translate_rounds(Translate translate) {
    for (std::uint32_t& index : round_index_) index = translate(index);
  }

  [[nodiscard]] std::size_t size() const { return start_ns_.size(); }
  [[nodiscard]] std::int64_t start_ns(std::size_t index) const { return start_ns_[index]; }
  [[nodiscard]] std::int64_t end_ns(std::size_t index) const {
    return length_ns_[index] == is_long ? end_of_long(index) : start_ns_[index] + length_ns_[index];
  }
  [[nodiscard]] traces::Phase phase(std::size_t index) const { return kind(index).phase; }
  [[nodiscard]] std::uint32_t name(std::size_t index) const { return kind(index).name; }
  [[nodiscard]] std::uint32_t round_index(std::size_t index) const { return round_index_[index]; }
  [[nodiscard]] std::uint32_t row_id(std::size_t index) const { return row_id_[index]; }
  [[nodiscard]] LaneSlice operator[](std::size_t index) const;

  // Finds the first slice that ends after a time, or size(). O(log size); with `from`, an index at or before
  // the answer, O(log of the distance).
  [[nodiscard]] std::size_t first_ending_after(std::int64_t time_ns) const;
  [[nodiscard]] std::size_t first_ending_after(std::int64_t time_ns, std::size_t from) const;
  [[nodiscard]] std::size_t first_starting_at(std::int64_t time_ns) const;  ///< At this time or later.
  [[nodiscard]] std::size_t first_starting_at(std::int64_t time_ns, std::size_t from) const;

  /// Bytes that the slices take, without reserved memory, which has not been touched.
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Name, layer and phase that many slices of a lane have in common.
  struct SliceKind {
    std::uint32_t name = 0;
    std::int16_t layer = -1;
    traces::Phase phase = traces::Phase::control;
    friend bool operator==(const SliceKind&, const SliceKind&) = default;
  };
  [[nodiscard]] const SliceKind& kind(std::size_t index) const {
    return kind_[index] == is_rare ? rare_kind(index) : kinds_[kind_[index]];
  }
  [[nodiscard]] const SliceKind& rare_kind(std::size_t index) const;
  /// Index into kinds_; a new kind is added. is_rare if there is no room for it.
  std::uint16_t index_of(const SliceKind& kind);
  void add_kind(const SliceKind& kind);
  /// Calls action(column of a, same column of b) for each column.
  template <typename A, typename B, typename Action>
  static void for_each_column(A& a, B& b, Action action);
  /// First index in [low, high) whose start is not `before`, which is true for a prefix of the range.
  template <typename Before>
  [[nodiscard]] std::size_t search(std::size_t low, std::size_t high, Before before) const;
  /// Searches near an index for the first start that is not `before`.
  template <typename Before>
  [[nodiscard]] std::size_t search_near(std::size_t from, Before before) const;
  /// First index that ends after a time, given the first index that starts after it.
  [[nodiscard]] std::size_t ending_after(std::int64_t time_ns, std::size_t behind) const {
    return behind > 0 && end_ns(behind - 1) > time_ns ? behind - 1 : behind;
  }
  [[nodiscard]] std::int64_t end_of_long(std::size_t index) const;

  /// Stands for all kinds that had no room in kinds_.
  static constexpr std::uint16_t is_rare = std::numeric_limits<std::uint16_t>::max();
  /// Stands for every length from 4.29 s.
  static constexpr std::uint32_t is_long = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::int64_t> start_ns_;
  std::vector<std::uint32_t> length_ns_;
  std::vector<std::uint16_t> kind_;
  std::vector<std::pair<std::size_t, std::int64_t>> long_ends_;  ///< (index, end) of long slices, by index.
  std::vector<std::uint32_t> round_index_;
  std::vector<std::uint32_t> row_id_;

  std::vector<SliceKind> kinds_;
  std::unordered_map<std::uint64_t, std::uint16_t> index_of_kind_;
  std::vector<std::uint16_t> next_kind_;                 ///< [kind] Kind that last followed it.
  std::vector<std::pair<std::size_t, SliceKind>> rare_;  ///< (index, kind) of rare slices, by index.
};

}  // namespace draftscope::gui
