// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_rows.h"

#include <algorithm>
#include <tuple>

namespace draftscope::gui {

namespace {

/// With more runs than this, each run has one lane at first.
constexpr std::size_t max_expanded_runs = 4;

bool are_same(const LaneRow& a, const LaneRow& b) {
  const auto all = [](const LaneRow& row) {
    return std::tuple(row.kind, row.index, row.group, row.top, row.height, row.begins_group, row.is_pinned);
  };
  return all(a) == all(b);
}

}  // namespace

void LaneRows::set(const Timeline* timeline, const OpenedRecording* opened) {
  timeline_ = timeline;
  rows_.clear();
  groups_ =
      timeline == nullptr || opened == nullptr ? std::vector<ShownGroup>{} : shown_groups(*timeline, *opened);
}

int LaneRows::hidden() const {
  return static_cast<int>(std::count_if(groups_.begin(), groups_.end(),
                                        [&](const ShownGroup& group) { return is_hidden(group); }));
}

bool LaneRows::is_collapsed(const ShownGroup& group) const {
  if (!is_collapsible(group)) return false;
  if (const auto chosen = collapsed_.find(group.key); chosen != collapsed_.end()) return chosen->second;
  if (group.kind != ShownGroup::GroupKind::run) return false;
  const auto runs =
      static_cast<std::size_t>(std::count_if(groups_.begin(), groups_.end(), [](const ShownGroup& other) {
        return other.kind == ShownGroup::GroupKind::run;
      }));
  return runs > max_expanded_runs;
}

void LaneRows::set_pinned(const ShownGroup& group, bool is_pinned) {
  if (is_pinned)
    pinned_.insert(group.key);
  else
    pinned_.erase(group.key);
}

void LaneRows::set_hidden(const ShownGroup& group, bool is_hidden) {
  if (is_hidden)
    hidden_.insert(group.key);
  else
    hidden_.erase(group.key);
}

std::optional<std::size_t> LaneRows::group_of(std::size_t lane) const {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (std::find(groups_[i].lanes.begin(), groups_[i].lanes.end(), lane) != groups_[i].lanes.end()) return i;
  return std::nullopt;
}

void LaneRows::add_group(std::size_t index, TimeRange shown, int& top) {
  const ShownGroup& group = groups_[index];
  const bool is_pinned = this->is_pinned(group);
  const auto add = [&](LaneRow::RowKind kind, std::size_t of, int height) {
    const bool begins = rows_.empty() || rows_.back().group != index;
    if (begins && !rows_.empty() && rows_.back().is_pinned == is_pinned && !is_collapsed(group))
      top += group_gap;
    rows_.push_back({kind, of, index, top, height, begins, is_pinned});
    top += height;
  };
  if (group.kind == ShownGroup::GroupKind::counter)
    return add(LaneRow::RowKind::counter, group.counter, counter_height);
  for (const std::size_t lane : is_collapsed(group) ? collapsed_lanes(*timeline_, group) : group.lanes)
    if (!folds_ || is_pinned || is_busy(timeline_->lanes[lane], shown))
      add(LaneRow::RowKind::lane, lane, lane_height);
    else
      ++folded_;
}

bool LaneRows::lay_out(TimeRange shown) {
  std::vector<LaneRow> before = std::move(rows_);
  rows_.clear();
  folded_ = 0;
  int top = 0;
  for (const bool pinned : {true, false}) {
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!is_hidden(groups_[i]) && is_pinned(groups_[i]) == pinned) add_group(i, shown, top);
    if (pinned) {
      if (top > 0) top += group_gap;
      pinned_height_ = top;
    }
  }
  height_ = top + (top > 0 ? group_gap : 0);
  return !std::equal(before.begin(), before.end(), rows_.begin(), rows_.end(), are_same);
}

}  // namespace draftscope::gui
