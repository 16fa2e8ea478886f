// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A slice by its place in the timeline, and searches for the places of others.

#include <optional>
#include <string>
#include <vector>

#include "timeline.h"

namespace draftscope::gui {

struct SlicePlace {
  std::size_t lane = 0;
  std::size_t slice = 0;

  friend bool operator==(const SlicePlace&, const SlicePlace&) = default;
};

[[nodiscard]] TimeRange time_of(const Timeline& timeline, const SlicePlace& place);

/// Time until which slices that began earlier ran on the same track, within the slice; its start where none
/// did, and where lanes are nested. Between slices of one start the shorter counts as earlier. O(lanes of the
/// track · log slices).
[[nodiscard]] std::int64_t shared_until_ns(const Timeline& timeline, const SlicePlace& place);

/// Finds the next slice in time order, after `from` or before it, whose name is marked in `matches` (by
/// Timeline::names). Without `from` it starts at an end; it wraps around. None if no slice matches. Walks all
/// slices.
[[nodiscard]] std::optional<SlicePlace> next_match(const Timeline& timeline, const std::vector<bool>& matches,
                                                   const std::optional<SlicePlace>& from, bool forward);

/// Place of a match among all of them, in time order.
struct MatchRank {
  std::size_t number = 0;  ///< Number from 1 on.
  std::size_t all = 0;
};

/// Rank of a place that next_match() found. Walks all slices.
[[nodiscard]] MatchRank rank_of_match(const Timeline& timeline, const std::vector<bool>& matches,
                                      const SlicePlace& place);

/// The span that launched the kernel at a place; none for other slices. Walks all spans.
[[nodiscard]] std::optional<SlicePlace> launch_of(const Timeline& timeline, const SlicePlace& place);

}  // namespace draftscope::gui
