// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The time of a range, by name and by nested open names (flame graph). A slice that reaches
// out of the range counts with the part inside.
//
// The tree attributes every instant of a track once: to the names that are open at it, from the uppermost
// lane down. Slices that a device runs at the same time lie side by side, not nested: a shared instant
// belongs to the slice that began first (simulator/analysis/attribution.h); operations that programs timed
// have the time since the previous one, too. Their tree has operations, and below them kernels. So a node is
// as long as the union of its slices, and its children together are never longer. A track's node is as long
// as the union of the track's slices, even in a damaged file.
//
// The attributed time of a name is what its nodes have for themselves, so that all names of a track add up to
// the track's node.

#include <functional>
#include <optional>

#include "data/lanes/timeline.h"

namespace draftscope::gui {

struct NameTotal {
  std::uint32_t name = 0;  ///< Index into Timeline::names.
  LaneKind lane_kind = LaneKind::track;
  std::string track_kind;                        ///< As Lane::track_kind.
  traces::Phase phase = traces::Phase::control;  ///< Phase that most of its time went to.
  std::size_t count = 0;
  std::int64_t attributed_ns = 0;  ///< Time of a request or round is all its own.
  std::int64_t total_ns = 0;       ///< Time from begin to end: what runs at the same time counts twice.
  std::int64_t max_ns = 0;         ///< Longest slice.
};

struct ProfileNode {
  static constexpr std::uint32_t none = no_index;

  std::uint32_t parent = none;  ///< Index into RangeProfile::nodes, below the node's own; none = a track.
  std::string name;
  std::uint32_t name_index = none;               ///< Index into Timeline::names; none = not one slice's name.
  traces::Phase phase = traces::Phase::control;  ///< Phase of its first slice.
  std::size_t depth = 0;                         ///< 0 = a track
  std::size_t count = 0;                         ///< Slices that begin in it, or that the range cuts.
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  ///< Part of it in none of its children.
};

struct RangeProfile {
  std::int64_t duration_ns = 0;    ///< Length of the range.
  std::vector<NameTotal> names;    ///< In order of falling attributed time.
  std::vector<ProfileNode> nodes;  ///< Parents before their children.
};

/// Profile of a range of time. `should_continue` is polled; once it is false, the result is empty. O(slices
/// within · lanes of a track).
[[nodiscard]] std::optional<RangeProfile> range_profile(const Timeline& timeline, TimeRange range,
                                                        const std::function<bool()>& should_continue);

}  // namespace draftscope::gui
