// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_slices.h"

#include <algorithm>
#include <type_traits>

namespace draftscope::gui {

template <typename A, typename B, typename Action>
void LaneSlices::for_each_column(A& a, B& b, Action action) {
  action(a.start_ns_, b.start_ns_);
  action(a.end_ns_, b.end_ns_);
  action(a.name_, b.name_);
  action(a.round_index_, b.round_index_);
  action(a.row_id_, b.row_id_);
  action(a.layer_, b.layer_);
  action(a.phase_, b.phase_);
}

void LaneSlices::append(LaneSlices&& later) {
  for_each_column(*this, later, [](auto& mine, auto& others) {
    if (mine.empty())
      mine.swap(others);
    else
      mine.insert(mine.end(), others.begin(), others.end());
    others = std::remove_reference_t<decltype(others)>();
  });
}

LaneSlices LaneSlices::reordered(const std::vector<std::uint32_t>& order) const {
  LaneSlices result;
  for_each_column(result, *this, [&](auto& column, const auto& mine) {
    column.reserve(order.size());
    for (const std::uint32_t index : order) column.push_back(mine[index]);
  });
  return result;
}

void LaneSlices::add(const LaneSlice& slice) {
  // Memory that is not touched costs nothing, copying slices does: by fours it is a third of what it is by
  // twos.
  if (start_ns_.size() == start_ns_.capacity())
    for_each_column(*this, *this, [this](auto& column, auto& /*same*/) {
      column.reserve(std::max<std::size_t>(64, 4 * start_ns_.size()));
    });
  start_ns_.push_back(slice.time.start_ns);
  end_ns_.push_back(slice.time.end_ns);
  name_.push_back(slice.name);
  round_index_.push_back(slice.round_index);
  // Row ids beyond 32 bits would need a trace of 4 G rows; such a slice keeps its time and loses its arrows.
  row_id_.push_back(slice.row_id > 0 && slice.row_id < no_index ? static_cast<std::uint32_t>(slice.row_id)
                                                                : 0);
  layer_.push_back(slice.layer);
  phase_.push_back(slice.phase);
}

LaneSlice LaneSlices::operator[](std::size_t index) const {
  return {.time = {start_ns_[index], end_ns_[index]},
          .name = name_[index],
          .round_index = round_index_[index],
          .row_id = row_id_[index],
          .layer = layer_[index],
          .phase = phase_[index]};
}

std::size_t LaneSlices::first_ending_after(std::int64_t time_ns) const {
  return static_cast<std::size_t>(std::upper_bound(end_ns_.begin(), end_ns_.end(), time_ns) -
                                  end_ns_.begin());
}

std::size_t LaneSlices::first_starting_at(std::int64_t time_ns) const {
  return static_cast<std::size_t>(std::lower_bound(start_ns_.begin(), start_ns_.end(), time_ns) -
                                  start_ns_.begin());
}

std::size_t LaneSlices::bytes() const {
  return start_ns_.size() * (2 * sizeof(std::int64_t) + 3 * sizeof(std::uint32_t) + sizeof(std::int16_t) + 1);
}

}  // namespace draftscope::gui
