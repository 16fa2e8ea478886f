// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/warp_run.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "operations/lanes.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

constexpr std::int32_t nowhere = std::numeric_limits<std::int32_t>::max();

class WarpRun {
 public:
  WarpRun(Warp& warp, std::uint64_t budget, Order& order, Position& position)
      : warp_(warp),
        grid_(*warp.block->grid),
        steps_(grid_.program->steps.data()),
        budget_(budget),
        order_(order),
        position_(position) {}

  std::uint64_t run() {
    // Lanes that come to a meeting with the last instruction of a turn still meet: they may be all that
    // others wait for.
    while (choose() && ran_ < budget_) run_group();
    return ran_;
  }

 private:
  /// Joins groups that are at one place, and picks the one that goes on. False if none does.
  bool choose() {
    std::vector<LaneGroup>& groups = warp_.groups;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = groups.size() - 1; j > i; --j)
        if (groups[j].at == groups[i].at && groups[j].waits == groups[i].waits) {
          groups[i].lanes |= groups[j].lanes;
          groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
        }
    std::erase_if(groups, [](const LaneGroup& group) { return group.lanes == 0; });
    // Lanes that have ended or come since may be those that others waited for.
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].waits == Waits::for_lanes && meet(i)) return choose();
    chosen_ = groups.size();
    std::size_t runnable = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].waits != Waits::for_nothing) continue;
      ++runnable;
      if (chosen_ == groups.size() || groups[i].at < groups[chosen_].at) chosen_ = i;
    }
    if (runnable == 0) return false;
    constexpr unsigned rarely = 8;
    group_budget_ = budget_;
    if (runnable > 1 && order_() % rarely == 0) {
      std::size_t drawn = order_() % runnable;
      for (std::size_t i = 0; i < groups.size(); ++i)
        if (groups[i].waits == Waits::for_nothing && drawn-- == 0) chosen_ = i;
      constexpr std::uint64_t few_steps = 16;
      group_budget_ = std::min(budget_, ran_ + few_steps);
    }
    others_at_ = nowhere;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (i != chosen_ && groups[i].waits == Waits::for_nothing && groups[i].at > groups[chosen_].at)
        others_at_ = std::min(others_at_, groups[i].at);
    return true;
  }

  /// Runs the chosen group until it splits, waits, ends, or comes to where another is.
  void run_group() {
    const std::size_t chosen = chosen_;
    bool goes_on = true;
    while (goes_on) {
      goes_on = run_step(chosen);
      ++ran_;
      if (goes_on && (warp_.groups[chosen].at >= others_at_ || ran_ >= group_budget_)) return;
    }
  }

  /// The lanes of a group that a step's guard lets do it.
  Mask guarded_lanes(const Step& step, Mask lanes) const {
    if (step.guard == 0) return lanes;
    const Mask missing = lanes & ~written_lanes(warp_, step.guard);
    if (missing != 0)
      raise(__builtin_ctz(missing),
            "a condition from a value that nobody wrote{}, expected one that was written",
            origin_text(step.guard));
    return lanes & (load_predicate(warp_, step.guard) ^ (step.guard_is_negated ? all_lanes : 0U));
  }

  std::string origin_text(Slot slot) const {
    const std::uint32_t origin = origin_of(warp_, slot);
    if (origin == 0) return {};
    return fmt::format(" (PTX line {})", grid_.program->entry->instructions[origin - 1].line);
  }

  /// False if the groups must be looked at anew.
  bool run_step(std::size_t chosen) {
    LaneGroup& group = warp_.groups[chosen];
    const Step& step = steps_[group.at];
    position_.step = group.at;
    const Mask lanes = guarded_lanes(step, group.lanes);
    ++grid_.clock_ns;
    if (grid_.counts != nullptr) count(group, lanes);
    if (step.control == Control::none) {
      if (lanes != 0) step.execute(warp_, step, lanes);
      ++group.at;
      return true;
    }
    if (lanes == 0) {
      ++group.at;
      return true;
    }
    switch (step.control) {
      case Control::branch:
        return branch(chosen, step, lanes);
      case Control::leave:
        leave(lanes);
        group.lanes &= ~lanes;
        ++group.at;
        return false;
      case Control::wait_grid:
        warp_.has_waited |= lanes;
        ++group.at;
        return true;
      case Control::meet:
        if (lanes == group.lanes && lanes == warp_.live && names_all(step, lanes)) {
          step.execute(warp_, step, lanes);
          ++group.at;
          return true;
        }
        stay(chosen, lanes, Waits::for_lanes);
        return false;
      default:
        stay(chosen, lanes, Waits::for_block);
        return false;
    }
  }

  void count(const LaneGroup& group, Mask lanes) {
    RunningCounts& counts = *grid_.counts;
    const auto at = static_cast<std::size_t>(group.at);
    ++counts.warps[at];
    counts.lanes[at] += static_cast<std::uint64_t>(__builtin_popcount(lanes));
    if (steps_[at].control != Control::branch) return;
    ++counts.totals.branches;
    if (lanes != 0 && lanes != group.lanes) ++counts.totals.divergent_branches;
  }

  bool branch(std::size_t chosen, const Step& step, Mask lanes) {
    LaneGroup& group = warp_.groups[chosen];
    if (lanes == group.lanes) {
      const bool is_backward = step.target <= group.at;
      group.at = step.target;
      return !is_backward || warp_.groups.size() == 1;
    }
    const LaneGroup rest{group.lanes & ~lanes, group.at + 1};
    group.lanes = lanes;
    group.at = step.target;
    warp_.groups.push_back(rest);
    return false;
  }

  /// Lanes of a group wait where they are; the others, whose guard does not let them, go on.
  void stay(std::size_t chosen, Mask lanes, Waits what) {
    LaneGroup& group = warp_.groups[chosen];
    const LaneGroup rest{group.lanes & ~lanes, group.at + 1};
    group.lanes = lanes;
    group.waits = what;
    if (rest.lanes != 0) warp_.groups.push_back(rest);
  }

  void leave(Mask lanes) {
    const Mask unwaited = lanes & ~warp_.has_waited;
    if (grid_.may_start_early && unwaited != 0)
      raise(__builtin_ctz(unwaited),
            "a thread ends without griddepcontrol.wait, expected every thread of a kernel that may "
            "start early to wait");
    warp_.live &= ~lanes;
  }

  /// Whether all of `lanes` name the whole warp.
  bool names_all(const Step& step, Mask lanes) const {
    if (step.members == 0) return true;
    const auto members = load_lanes<std::uint32_t>(warp_, step.members);
    Mask named = written_lanes(warp_, step.members);
    for_each_lane(lanes, [&](int lane) { named &= members[static_cast<std::size_t>(lane)]; });
    return named == all_lanes;
  }

  /// Does a step for a set of lanes that name each other and have all come. False if there is no such set.
  bool meet(std::size_t waiting) {
    LaneGroup& group = warp_.groups[waiting];
    const Step& step = steps_[group.at];
    position_.step = group.at;
    for (Mask left = group.lanes; left != 0;) {
      const int lane = __builtin_ctz(left);
      Mask named = all_lanes;
      if (step.members != 0) {
        const Mask missing = group.lanes & ~written_lanes(warp_, step.members);
        if (missing != 0)
          raise(__builtin_ctz(missing),
                "a mask of lanes from a value that nobody wrote, expected one that was written");
        named = load_lanes<std::uint32_t>(warp_, step.members)[static_cast<std::size_t>(lane)];
      }
      if ((named >> lane & 1U) == 0)
        raise(lane, "a mask of lanes {:#x} without the lane itself, expected it to be named", named);
      const Mask needed = named & warp_.live;
      left &= ~needed;
      if ((needed & ~group.lanes) != 0) continue;
      if (step.members != 0) {
        const auto members = load_lanes<std::uint32_t>(warp_, step.members);
        for_each_lane(needed, [&](int other) {
          if (members[static_cast<std::size_t>(other)] != named)
            raise(other, "a mask of lanes {:#x} where lane {} has {:#x}, expected the same",
                  members[static_cast<std::size_t>(other)], lane, named);
        });
      }
      step.execute(warp_, step, needed);
      group.lanes &= ~needed;
      warp_.groups.push_back({needed, position_.step + 1});
      return true;
    }
    return false;
  }

  Warp& warp_;
  Grid& grid_;
  const Step* steps_;
  std::uint64_t budget_;
  Order& order_;
  Position& position_;
  std::uint64_t ran_ = 0;
  std::uint64_t group_budget_ = 0;
  std::size_t chosen_ = 0;
  std::int32_t others_at_ = nowhere;
};

}  // namespace

std::uint64_t run_warp(Warp& warp, std::uint64_t budget, Order& order, Position& position) {
  return WarpRun(warp, budget, order, position).run();
}

bool can_go_on(const Warp& warp) {
  return std::any_of(warp.groups.begin(), warp.groups.end(), [](const LaneGroup& group) {
    return group.lanes != 0 && group.waits == Waits::for_nothing;
  });
}

std::int32_t barrier_of(const Warp& warp, Position& position) {
  const auto waiting = std::find_if(warp.groups.begin(), warp.groups.end(),
                                    [](const LaneGroup& group) { return group.waits != Waits::for_nothing; });
  for (const LaneGroup& group : warp.groups) {
    if (group.lanes == 0) continue;
    position.step = group.at;
    const int lane = __builtin_ctz(group.lanes);
    if (group.waits == Waits::for_lanes)
      raise(lane,
            "lanes {:#x} of the warp wait for others, of which {:#x} have not ended and wait elsewhere, "
            "expected all to come",
            group.lanes, warp.live & ~group.lanes);
    if (group.at != waiting->at)
      raise(lane,
            "lanes {:#x} of the warp wait at this barrier and lanes {:#x} at another, expected all at one",
            group.lanes, waiting->lanes);
  }
  return waiting == warp.groups.end() ? -1 : waiting->at;
}

void leave_barrier(Warp& warp) {
  for (LaneGroup& group : warp.groups) {
    group.waits = Waits::for_nothing;
    ++group.at;
  }
}

}  // namespace draftscope::ptx
