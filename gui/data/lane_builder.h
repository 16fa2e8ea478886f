// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sorts slices into lanes as they are read. A slice that would overlap the one before it in its lane goes to
// the next free lane of the same group (kernels of concurrent graphs, damaged recordings).

#include <map>
#include <unordered_map>
#include <vector>

#include "timeline.h"

namespace draftscope::gui {

/// Lanes of one group stand together: of a run, or of a track.
struct LaneGroup {
  LaneKind kind = LaneKind::track;
  std::int64_t id = 0;  ///< of the run or track

  friend bool operator<(const LaneGroup& a, const LaneGroup& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.id < b.id;
  }
};

class LaneBuilder {
 public:
  /// `recording` must outlive the builder.
  explicit LaneBuilder(const traces::Recording& recording) : recording_(&recording) {}

  /// The index of a text among the timeline's names.
  [[nodiscard]] std::uint32_t name(const std::string& text);

  /// Slices of one group and depth in the order of their start.
  void add(const LaneGroup& group, std::int32_t depth, const LaneSlice& slice);
  void add(const traces::Counter& counter);
  void launch(std::int64_t kernel, std::int64_t span);

  [[nodiscard]] Timeline finish() &&;

 private:
  struct Open {
    LaneSlices slices;
    std::int64_t end_ns = 0;
  };
  using Lanes = std::vector<Open>;

  [[nodiscard]] std::string group_name(const LaneGroup& group) const;

  const traces::Recording* recording_;
  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<LaneGroup, std::map<std::int32_t, Lanes>> groups_;
  Lanes* last_lanes_ = nullptr;  ///< of the slice before, which mostly is the next one's too
  LaneGroup last_group_;
  std::int32_t last_depth_ = -1;
  std::map<std::int64_t, CounterLane> counters_;
};

}  // namespace draftscope::gui
