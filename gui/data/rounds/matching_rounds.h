// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds that a filter leaves.

#include <cstdint>
#include <functional>
#include <vector>

#include "data/opened_recording.h"
#include "data/rounds/round_filter.h"

namespace draftscope::gui {

/// Whether the filter leaves each round, by index into Recording::rounds. O(rounds and draft tokens).
/// `should_continue` is polled; on false the result is meaningless.
[[nodiscard]] std::vector<bool> matching_rounds(const OpenedRecording& opened, const RoundFilter& filter,
                                                const std::function<bool()>& should_continue);

/// The rounds that a filter leaves, by their time. Memory: 32 bytes per remaining round. Immutable once
/// built.
class LeftRounds {
 public:
  /// Takes a recording with a filter (OpenedRecording::filtered()). O(rounds · runs).
  explicit LeftRounds(RecordingPointer filtered);

  [[nodiscard]] bool has(std::uint32_t round_index) const {
    return filtered_->place_in_run(round_index) != no_index;
  }
  /// Whether a remaining round of the run was under way within the time. With an invalid `run_index` rounds
  /// of all runs count. O(log rounds).
  [[nodiscard]] bool any_in(std::size_t run_index, TimeRange time) const;

 private:
  struct Times {
    std::vector<std::int64_t> start_ns;  ///< Start of each round, sorted.
    std::vector<std::int64_t> end_ns;    ///< Latest end of this round and all before it.
  };
  [[nodiscard]] Times times_of(const std::vector<std::uint32_t>& rounds) const;

  RecordingPointer filtered_;
  std::vector<Times> by_run_;
  Times all_;
};

}  // namespace draftscope::gui
