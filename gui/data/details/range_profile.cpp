// SPDX-License-Identifier: GPL-3.0-or-later
#include "range_profile.h"

#include <draftscope/simulator/analysis/operations.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace draftscope::gui {

namespace {

constexpr std::size_t slices_per_question = 1 << 16;
/// Index of the name of an operation's end, as LaneNames::last_blocks().
constexpr std::uint32_t last_blocks = 3;

class Patience {
 public:
  explicit Patience(const std::function<bool()>& should_continue) : should_continue_(should_continue) {}
  /// Call it once per slice. It returns false once nobody waits for the result any more.
  bool lasts() {
    if (lasts_ && ++slices_ % slices_per_question == 0) lasts_ = should_continue_();
    return lasts_;
  }

 private:
  const std::function<bool()>& should_continue_;
  std::size_t slices_ = 0;
  bool lasts_ = true;
};

/// Totals by name, kind of lane and kind of track.
class NameTotals {
 public:
  bool add(const Lane& lane, TimeRange range, Patience& patience) {
    const LaneSlices& slices = lane.slices;
    for (std::size_t i = slices.first_ending_after(range.start_ns);
         i < slices.size() && slices.start_ns(i) < range.end_ns; ++i) {
      if (!patience.lasts()) return false;
      const std::int64_t ns =
          std::min(slices.end_ns(i), range.end_ns) - std::max(slices.start_ns(i), range.start_ns);
      Sum& sum = sums_[{lane.kind, lane.track_kind, slices.name(i)}];
      ++sum.total.count;
      sum.total.total_ns += ns;
      if (lane.kind != LaneKind::track) sum.total.attributed_ns += ns;
      sum.total.max_ns = std::max(sum.total.max_ns, ns);
      sum.by_phase[static_cast<std::size_t>(slices.phase(i))] += ns;
    }
    return true;
  }

  /// Adds the attributed times of a track's nodes.
  void attribute(const Lane& lane, std::span<const ProfileNode> nodes) {
    for (const ProfileNode& node : nodes)
      if (node.name_index != ProfileNode::none)
        sums_[{lane.kind, lane.track_kind, node.name_index}].total.attributed_ns += node.self_ns;
  }

  [[nodiscard]] std::vector<NameTotal> longest_first() const {
    std::vector<NameTotal> totals;
    totals.reserve(sums_.size());
    for (const auto& [key, sum] : sums_) {
      totals.push_back(sum.total);
      std::tie(totals.back().lane_kind, totals.back().track_kind, totals.back().name) = key;
      totals.back().phase = static_cast<traces::Phase>(
          std::max_element(sum.by_phase.begin(), sum.by_phase.end()) - sum.by_phase.begin());
    }
    std::stable_sort(totals.begin(), totals.end(), [](const NameTotal& a, const NameTotal& b) {
      return std::tie(a.attributed_ns, a.total_ns) > std::tie(b.attributed_ns, b.total_ns);
    });
    return totals;
  }

 private:
  struct Sum {
    NameTotal total;
    std::array<std::int64_t, traces::phase_count> by_phase{};
  };
  std::map<std::tuple<LaneKind, std::string, std::uint32_t>, Sum> sums_;
};

/// The tree of one track, grown in the order of time.
class TrackTree {
 public:
  TrackTree(const Timeline& timeline, std::vector<const Lane*> lanes, RangeProfile& into, Patience& patience)
      : timeline_(timeline),
        lanes_(std::move(lanes)),
        next_(lanes_.size()),
        into_(into),
        patience_(patience),
        times_itself_(lanes_.front()->track_kind == "operations"),
        is_of_device_(times_itself_ || is_side_by_side(*lanes_.front())) {
    root_ = add_node(ProfileNode::none, lanes_.front()->name, traces::Phase::idle);
  }

  bool add(TimeRange part) {
    if (is_of_device_) return add_side_by_side(part);
    for (std::size_t depth = 0; depth < lanes_.size(); ++depth)
      next_[depth] = lanes_[depth]->slices.first_ending_after(part.start_ns);
    part_ = part;
    return grow(root_, 0, part);
  }

  /// Sets the time of the track's node to the sum over what is open in it, and adds the attributed times.
  void finish(NameTotals& totals) {
    totals.attribute(*lanes_.front(), std::span(into_.nodes).subspan(root_));
    ProfileNode& root = into_.nodes[root_];
    root.total_ns = 0;
    for (const ProfileNode& node : into_.nodes)
      if (node.parent == root_) root.total_ns += node.total_ns;
    root.self_ns = 0;
    root.count = 1;
    if (root.total_ns == 0 && into_.nodes.size() == root_ + 1U) into_.nodes.pop_back();
  }

 private:
  std::uint32_t add_node(std::uint32_t parent, const std::string& name, traces::Phase phase) {
    const std::size_t depth = parent == ProfileNode::none ? 0 : into_.nodes[parent].depth + 1;
    into_.nodes.push_back(
        {.parent = parent, .name = name, .name_index = ProfileNode::none, .phase = phase, .depth = depth});
    return static_cast<std::uint32_t>(into_.nodes.size() - 1);
  }

  std::uint32_t child(std::uint32_t parent, const LaneSlices& slices, std::size_t index) {
    const std::uint32_t name = slices.name(index);
    const std::uint64_t key = (std::uint64_t{parent} << 32U) | name;
    const auto found = children_.find(key);
    if (found != children_.end()) return found->second;
    std::string words = timeline_.names[name];
    // A device's kernel "qkv: ProductKernel" lies below the operation "qkv".
    if (const std::size_t colon = words.find(": "); is_of_device_ && colon != std::string::npos) {
      const auto [operation, is_new] = operations_.try_emplace(words.substr(0, colon), ProfileNode::none);
      if (is_new) operation->second = add_node(parent, operation->first, slices.phase(index));
      parent = operation->second;
      words.erase(0, colon + 2);
    }
    const std::uint32_t node = add_node(parent, words, slices.phase(index));
    into_.nodes[node].name_index = name;
    children_.emplace(key, node);
    return node;
  }

  [[nodiscard]] traces::SpanId launcher_of(std::uint32_t row_id) const {
    if (!times_itself_) return {};
    const auto launch = std::lower_bound(timeline_.launches.begin(), timeline_.launches.end(),
                                         std::pair<std::uint32_t, std::uint32_t>(row_id, 0));
    return launch != timeline_.launches.end() && launch->first == row_id
               ? traces::SpanId::from(launch->second)
               : traces::SpanId();
  }

  /// Attributes each instant by the law of a device's time.
  bool add_side_by_side(TimeRange part) {
    std::vector<std::pair<const LaneSlices*, std::size_t>> within;
    for (const Lane* lane : lanes_)
      for (std::size_t i = lane->slices.first_ending_after(part.start_ns);
           i < lane->slices.size() && lane->slices.start_ns(i) < part.end_ns; ++i) {
        if (!patience_.lasts()) return false;
        // The time between the first and the last block's end is part of the operation.
        if (!times_itself_ || lane->slices.name(i) != last_blocks) within.emplace_back(&lane->slices, i);
      }
    std::stable_sort(within.begin(), within.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first->start_ns(a.second), a.first->end_ns(a.second)) <
             std::pair(b.first->start_ns(b.second), b.first->end_ns(b.second));
    });
    simulator::OperationClock clock(times_itself_);
    for (const auto& [slices, index] : within) {
      const std::int64_t ns =
          clock.attribute(slices->start_ns(index), slices->end_ns(index), launcher_of(slices->row_id(index)))
              .ns_within(part.start_ns, part.end_ns);
      const std::uint32_t kernel = child(root_, *slices, index);
      into_.nodes[kernel].self_ns += ns;
      for (std::uint32_t node = kernel; node != root_; node = into_.nodes[node].parent) {
        ++into_.nodes[node].count;
        into_.nodes[node].total_ns += ns;
      }
    }
    return true;
  }

  /// Attributes a stretch in which `node` is the innermost name that lanes above `depth` have open.
  bool grow(std::uint32_t node, std::size_t depth, TimeRange stretch) {
    if (depth == lanes_.size()) {
      into_.nodes[node].self_ns += stretch.duration_ns();
      return true;
    }
    const LaneSlices& slices = lanes_[depth]->slices;
    std::size_t& next = next_[depth];
    std::int64_t at = stretch.start_ns;
    while (next < slices.size() && slices.start_ns(next) < stretch.end_ns) {
      if (!patience_.lasts()) return false;
      const std::int64_t start = std::max(slices.start_ns(next), part_.start_ns);
      const std::int64_t from = std::max(start, stretch.start_ns);
      const std::int64_t to = std::min(slices.end_ns(next), stretch.end_ns);
      if (from > at && !grow(node, depth + 1, {at, from})) return false;
      if (from < to || start == from) {
        const std::uint32_t inner = child(node, slices, next);
        if (start == from) ++into_.nodes[inner].count;
        into_.nodes[inner].total_ns += std::max<std::int64_t>(0, to - from);
        if (from < to && !grow(inner, depth + 1, {from, to})) return false;
      }
      at = std::max(at, to);
      // A slice that continues after the stretch is met again there.
      if (slices.end_ns(next) > stretch.end_ns) break;
      ++next;
    }
    return at >= stretch.end_ns || grow(node, depth + 1, {at, stretch.end_ns});
  }

  const Timeline& timeline_;
  std::vector<const Lane*> lanes_;
  std::vector<std::size_t> next_;  ///< [lane] First slice that has not ended.
  RangeProfile& into_;
  Patience& patience_;
  bool times_itself_;  ///< Whether programs timed the operations.
  bool is_of_device_;
  TimeRange part_;
  std::uint32_t root_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::map<std::string, std::uint32_t> operations_;  ///< Nodes of a device's operations.
};

/// Lanes of each track, top to bottom.
std::vector<std::vector<const Lane*>> tracks_of(const Timeline& timeline) {
  std::vector<std::vector<const Lane*>> tracks;
  for (const Lane& lane : timeline.lanes) {
    if (lane.kind != LaneKind::track || lane.slices.size() == 0) continue;
    if (tracks.empty() || tracks.back().front()->owner != lane.owner) tracks.emplace_back();
    tracks.back().push_back(&lane);
  }
  return tracks;
}

}  // namespace

std::optional<RangeProfile> range_profile(const Timeline& timeline, TimeRange range,
                                          const std::function<bool()>& should_continue) {
  RangeProfile profile;
  if (range.duration_ns() <= 0) return profile;
  profile.duration_ns = range.duration_ns();
  Patience patience(should_continue);
  NameTotals totals;
  for (const Lane& lane : timeline.lanes)
    if (!totals.add(lane, range, patience)) return std::nullopt;
  for (std::vector<const Lane*>& lanes : tracks_of(timeline)) {
    TrackTree tree(timeline, std::move(lanes), profile, patience);
    if (!tree.add(range)) return std::nullopt;
    tree.finish(totals);
  }
  profile.names = totals.longest_first();
  return profile;
}

}  // namespace draftscope::gui
