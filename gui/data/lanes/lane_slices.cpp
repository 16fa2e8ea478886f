// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_slices.h"

#include <algorithm>
#include <type_traits>

namespace draftscope::gui {

template <typename A, typename B, typename Action>
void LaneSlices::for_each_column(A& a, B& b, Action action) {
  action(a.start_ns_, b.start_ns_);
  action(a.length_ns_, b.length_ns_);
  action(a.kind_, b.kind_);
  action(a.round_index_, b.round_index_);
  action(a.row_id_, b.row_id_);
}

std::uint16_t LaneSlices::index_of(const SliceKind& kind) {
  // The kind is mostly the one that followed the last kind before, layer by layer.
  const std::uint16_t last = kind_.empty() ? is_rare : kind_.back();
  if (last != is_rare && kinds_[next_kind_[last]] == kind) return next_kind_[last];
  const std::uint64_t key = std::uint64_t{kind.name} << 32 |
                            std::uint64_t{static_cast<std::uint16_t>(kind.layer)} << 8 |
                            static_cast<std::uint64_t>(kind.phase);
  std::uint16_t found = is_rare;
  if (const auto known = index_of_kind_.find(key); known != index_of_kind_.end()) {
    found = known->second;
  } else if (kinds_.size() < is_rare) {
    found = static_cast<std::uint16_t>(kinds_.size());
    index_of_kind_.emplace(key, found);
    kinds_.push_back(kind);
    next_kind_.push_back(found);
  }
  if (last != is_rare && found != is_rare) next_kind_[last] = found;
  return found;
}

void LaneSlices::add_kind(const SliceKind& kind) {
  const std::uint16_t index = index_of(kind);
  if (index == is_rare) rare_.emplace_back(kind_.size(), kind);
  kind_.push_back(index);
}

const LaneSlices::SliceKind& LaneSlices::rare_kind(std::size_t index) const {
  return std::lower_bound(rare_.begin(), rare_.end(), index,
                          [](const auto& entry, std::size_t wanted) { return entry.first < wanted; })
      ->second;
}

void LaneSlices::append(LaneSlices&& later) {
  if (size() == 0) {
    *this = std::exchange(later, {});
    return;
  }
  for (const auto& [index, end_ns] : later.long_ends_) long_ends_.emplace_back(size() + index, end_ns);
  // The other object numbers its kinds differently.
  kind_.reserve(size() + later.size());
  for (std::size_t i = 0; i < later.size(); ++i) add_kind(later.kind(i));
  later.kind_ = {};
  for_each_column(*this, later, [](auto& mine, auto& others) {
    mine.insert(mine.end(), others.begin(), others.end());
    others = std::remove_reference_t<decltype(others)>();
  });
  later = {};
}

LaneSlices LaneSlices::reordered(const std::vector<std::uint32_t>& order) const {
  LaneSlices result;
  for_each_column(result, *this, [&](auto& column, const auto& mine) {
    column.reserve(order.size());
    for (const std::uint32_t index : order) column.push_back(mine[index]);
  });
  result.kinds_ = kinds_;
  result.index_of_kind_ = index_of_kind_;
  result.next_kind_ = next_kind_;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (length_ns_[order[place]] == is_long) result.long_ends_.emplace_back(place, end_of_long(order[place]));
    if (kind_[order[place]] == is_rare) result.rare_.emplace_back(place, rare_kind(order[place]));
  }
  return result;
}

void LaneSlices::add(const LaneSlice& slice) {
  // Untouched memory costs nothing, but copying slices does: growth by four copies a third of what growth by
  // two does.
  if (start_ns_.size() == start_ns_.capacity())
    for_each_column(*this, *this, [this](auto& column, auto& /*same*/) {
      column.reserve(std::max<std::size_t>(64, 4 * start_ns_.size()));
    });
  start_ns_.push_back(slice.time.start_ns);
  // Computed as unsigned, because a damaged file may have any two times.
  const std::uint64_t length =
      static_cast<std::uint64_t>(slice.time.end_ns) - static_cast<std::uint64_t>(slice.time.start_ns);
  if (length >= is_long) long_ends_.emplace_back(length_ns_.size(), slice.time.end_ns);
  length_ns_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(length, is_long)));
  add_kind({slice.name, slice.layer, slice.phase});
  round_index_.push_back(slice.round_index);
  // Row ids beyond 32 bits would need a trace of 4 G rows; such a slice keeps its time and loses its arrows.
  row_id_.push_back(slice.row_id > 0 && slice.row_id < no_index ? static_cast<std::uint32_t>(slice.row_id)
                                                                : 0);
}

LaneSlice LaneSlices::operator[](std::size_t index) const {
  return {.time = {start_ns_[index], end_ns(index)},
          .name = kind(index).name,
          .round_index = round_index_[index],
          .row_id = row_id_[index],
          .layer = kind(index).layer,
          .phase = kind(index).phase};
}

std::int64_t LaneSlices::end_of_long(std::size_t index) const {
  return std::lower_bound(long_ends_.begin(), long_ends_.end(), index,
                          [](const auto& entry, std::size_t wanted) { return entry.first < wanted; })
      ->second;
}

template <typename Before>
std::size_t LaneSlices::search(std::size_t low, std::size_t high, Before before) const {
  const auto begin = start_ns_.begin();
  return static_cast<std::size_t>(std::partition_point(begin + static_cast<std::ptrdiff_t>(low),
                                                       begin + static_cast<std::ptrdiff_t>(high), before) -
                                  begin);
}

template <typename Before>
std::size_t LaneSlices::search_near(std::size_t from, Before before) const {
  std::size_t low = from;
  std::size_t reach = 1;
  for (; from + reach <= size() && before(start_ns_[from + reach - 1]); reach *= 2) low = from + reach;
  return search(low, std::min(size(), from + reach), before);
}

std::size_t LaneSlices::first_ending_after(std::int64_t time_ns) const {
  return ending_after(time_ns,
                      search(0, size(), [time_ns](std::int64_t start_ns) { return start_ns <= time_ns; }));
}

std::size_t LaneSlices::first_ending_after(std::int64_t time_ns, std::size_t from) const {
  return ending_after(time_ns,
                      search_near(from, [time_ns](std::int64_t start_ns) { return start_ns <= time_ns; }));
}

std::size_t LaneSlices::first_starting_at(std::int64_t time_ns) const {
  return search(0, size(), [time_ns](std::int64_t start_ns) { return start_ns < time_ns; });
}

std::size_t LaneSlices::first_starting_at(std::int64_t time_ns, std::size_t from) const {
  return search_near(from, [time_ns](std::int64_t start_ns) { return start_ns < time_ns; });
}

std::size_t LaneSlices::bytes() const {
  return start_ns_.size() * (sizeof(std::int64_t) + 3 * sizeof(std::uint32_t) + sizeof(std::uint16_t)) +
         long_ends_.size() * sizeof(long_ends_[0]) + rare_.size() * sizeof(rare_[0]);
}

}  // namespace draftscope::gui
