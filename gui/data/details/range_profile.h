// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where a range of time went: by name, and by the names that are open within one another (flame graph,
// top-down table). Slices that reach out of the range count with the part inside.
//
// The tree attributes every instant of a track once: to the names that are open at it, from the uppermost
// lane down. What a device runs at a time lies side by side, not one inside the other: there an instant is
// the time of what began first. So a node is as long as the union of the slices that it stands for, its
// children together are never longer than it, and a track's node is as long as the union of its slices,
// whatever the file holds.

#include <functional>
#include <optional>

#include "data/lanes/timeline.h"

namespace draftscope::gui {

struct NameTotal {
  std::uint32_t name = 0;  ///< index into Timeline::names
  LaneKind lane_kind = LaneKind::track;
  traces::Phase phase = traces::Phase::control;  ///< Phase that most of its time went to.
  std::size_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;  ///< Longest slice.
};

struct ProfileNode {
  static constexpr std::uint32_t none = no_index;

  std::uint32_t parent =
      none;  ///< index into RangeProfile::nodes, smaller than the node's own; none: a track
  std::string name;
  traces::Phase phase = traces::Phase::control;  ///< Phase of its first slice.
  std::size_t depth = 0;                         ///< 0: a track
  std::size_t count = 0;                         ///< slices that begin, or are cut by the range, in it
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  ///< Part of it in none of its children.
};

struct RangeProfile {
  std::int64_t duration_ns = 0;    ///< Length of the range.
  std::vector<NameTotal> names;    ///< longest total first
  std::vector<ProfileNode> nodes;  ///< parents before their children
};

/// Profile of a range of time. Nothing comes back once `should_continue`, which is asked
/// now and then, is false. O(slices within, times lanes of a track).
[[nodiscard]] std::optional<RangeProfile> range_profile(const Timeline& timeline, TimeRange range,
                                                        const std::function<bool()>& should_continue);

}  // namespace draftscope::gui
