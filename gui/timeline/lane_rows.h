// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of the timeline: which lanes of which groups stand where. Groups can be collapsed to one lane,
// hidden, or pinned on top, where they do not scroll. Lanes that are empty in the visible time fold away.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/lanes/lane_groups.h"

namespace draftscope::gui {

struct LaneRow {
  enum class RowKind : std::uint8_t { lane, counter };

  RowKind kind = RowKind::lane;
  std::size_t index = 0;  ///< Index into Timeline::lanes or Timeline::counters.
  std::size_t group = 0;  ///< Index into LaneRows::groups().
  int top = 0;            ///< Pixels below the axis; for scrolling rows, before scrolling.
  int height = 0;
  bool begins_group = false;
  bool is_pinned = false;
};

class LaneRows {
 public:
  static constexpr int lane_height = 20;
  static constexpr int counter_height = 36;
  static constexpr int group_gap = 7;

  /// Rebuilds the groups; without a timeline there are none.
  void set(const Timeline* timeline, const OpenedRecording* opened);
  /// Rebuilds the rows. Returns whether they differ from before.
  bool lay_out(TimeRange shown);

  [[nodiscard]] const std::vector<ShownGroup>& groups() const { return groups_; }
  /// Pinned rows come first.
  [[nodiscard]] const std::vector<LaneRow>& rows() const { return rows_; }
  [[nodiscard]] int pinned_height() const { return pinned_height_; }
  /// Height of all rows, pinned rows included.
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] int folded() const { return folded_; }
  [[nodiscard]] int hidden() const;

  // Choices by group take effect with lay_out().
  [[nodiscard]] bool is_collapsible(const ShownGroup& group) const { return group.lanes.size() > 1; }
  [[nodiscard]] bool is_collapsed(const ShownGroup& group) const;
  [[nodiscard]] bool is_pinned(const ShownGroup& group) const { return pinned_.contains(group.key); }
  [[nodiscard]] bool is_hidden(const ShownGroup& group) const { return hidden_.contains(group.key); }
  void set_collapsed(const ShownGroup& group, bool is_collapsed) { collapsed_[group.key] = is_collapsed; }
  void set_pinned(const ShownGroup& group, bool is_pinned);
  void set_hidden(const ShownGroup& group, bool is_hidden);
  void show_hidden() { hidden_.clear(); }
  [[nodiscard]] bool folds() const { return folds_; }
  void set_folds(bool folds) { folds_ = folds; }

  /// Group of a lane, as an index into groups(); none if no group has it.
  [[nodiscard]] std::optional<std::size_t> group_of(std::size_t lane) const;

 private:
  void add_group(std::size_t group, TimeRange shown, int& top);

  const Timeline* timeline_ = nullptr;
  std::vector<ShownGroup> groups_;
  std::vector<LaneRow> rows_;
  int pinned_height_ = 0;
  int height_ = 0;
  int folded_ = 0;
  bool folds_ = true;
  std::map<std::string, bool> collapsed_;  ///< Choices of the user.
  std::set<std::string> pinned_;
  std::set<std::string> hidden_;
};

}  // namespace draftscope::gui
