// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sorts slices into lanes as they are read. A slice that would overlap the previous one in its lane goes to
// the next free lane of the same group (kernels of concurrent graphs, damaged recordings).
//
// Several threads may read parts of a recording, each into its own builder. The builders are merged at the
// end.

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/id_index.h"
#include "timeline.h"

namespace draftscope::gui {

/// Lanes of one group stand together: the lanes of a run, or of a track.
struct LaneGroup {
  LaneKind kind = LaneKind::track;
  std::int64_t owner = 0;  ///< Id of the run (requests, rounds) or of the track; 0 for decisions.

  /// Sorts runs first, each with its requests above its rounds.
  friend bool operator<(const LaneGroup& a, const LaneGroup& b) {
    const auto place = [](const LaneGroup& group) {
      const bool is_run = group.kind == LaneKind::requests || group.kind == LaneKind::rounds;
      return std::tuple(is_run ? LaneKind::requests : group.kind, group.owner, group.kind);
    };
    return place(a) < place(b);
  }
};

[[nodiscard]] std::string group_name(const traces::Recording& recording, const LaneGroup& group);
/// Empty if the group is not a track's.
[[nodiscard]] std::string track_kind(const traces::Recording& recording, const LaneGroup& group);

/// The names that slices of a recording have: its strings, and names for requests, rounds, ends of operations
/// and unnamed slices.
class LaneNames {
 public:
  explicit LaneNames(const std::unordered_map<traces::StringId, std::string>& strings);

  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
  /// By all(): the recorded texts.
  [[nodiscard]] const std::vector<std::string>& whole() const { return whole_; }
  [[nodiscard]] std::uint32_t request() const { return 0; }
  [[nodiscard]] std::uint32_t round() const { return 1; }
  /// Name of an operation's end, from the first finished block to the last.
  [[nodiscard]] std::uint32_t last_blocks() const { return 3; }
  /// Name of an id in the table `strings`.
  [[nodiscard]] std::uint32_t of(traces::StringId name_id) const {
    const std::uint32_t place = index_[name_id];
    return place == no_index ? unnamed_ : name_of_[place];
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> whole_;
  IdIndex<traces::StringId> index_;     ///< Index of strings, into name_of_.
  std::vector<std::uint32_t> name_of_;  ///< Index into names_; equal texts share a name.
  std::uint32_t unnamed_ = 2;
};

class LaneBuilder {
 public:
  /// Adds a slice. Any order works, the order of starts is the fastest. Until finish(), the slice's round
  /// index is the round's id, cut to 32 bits; 0 if it has none.
  void add(const LaneGroup& group, std::int32_t depth, const LaneSlice& slice);
  /// Adds counters in the order of their times.
  void add(const traces::Counter& counter);
  void launch(traces::KernelId kernel_id, traces::SpanId span_id);
  /// Index of a name that no string has; `recorded` is the index of the name that it replaces. Only one of
  /// the builders may add names.
  [[nodiscard]] std::uint32_t add_name(const LaneNames& names, const std::string& name,
                                       std::uint32_t recorded);
  /// Adds the content of another builder of the same recording, with later ids.
  void add(LaneBuilder&& later);

  /// Builds the timeline. `rounds` finds indices into Recording::rounds.
  [[nodiscard]] Timeline finish(const traces::Recording& recording, const LaneNames& names,
                                const IdIndex<traces::RoundId>& rounds) &&;

 private:
  struct LaneSpans {
    LaneSlices slices;
    std::int64_t end_ns = 0;
    bool is_in_order = true;  ///< Whether slices are ordered without overlap.
  };

  std::map<LaneGroup, std::map<std::int32_t, LaneSpans>> groups_;
  LaneSpans* last_ = nullptr;  ///< Lane of the last slice, which is mostly also the lane of the next.
  LaneGroup last_group_;
  std::int32_t last_depth_ = -1;
  std::map<traces::TrackId, CounterLane> counters_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launches_;
  std::vector<std::pair<std::string, std::uint32_t>> more_names_;  ///< (name, index of the recorded name).
};

}  // namespace draftscope::gui
