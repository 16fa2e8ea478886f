// SPDX-License-Identifier: GPL-3.0-or-later
#include "parted_times.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

constexpr std::size_t times_rounds_per_block = 64;

}  // namespace

PartedTimes::PartedTimes(std::vector<std::string> names, std::size_t rounds, std::vector<PartTime> times)
    : names_(std::move(names)), first_(rounds + 1) {
  const auto is_before = [](const PartTime& a, const PartTime& b) {
    return std::tie(a.place, a.part) < std::tie(b.place, b.part);
  };
  if (!std::is_sorted(times.begin(), times.end(), is_before))
    std::sort(times.begin(), times.end(), is_before);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool is_same = i > 0 && times[i - 1].place == times[i].place && times[i - 1].part == times[i].part;
    if (is_same && ns_.back() <= std::numeric_limits<std::uint32_t>::max() - times[i].ns) {
      ns_.back() += times[i].ns;
      continue;
    }
    ++first_[times[i].place + 1];
    part_.push_back(times[i].part);
    ns_.push_back(times[i].ns);
  }
  for (std::size_t place = 0; place < rounds; ++place) first_[place + 1] += first_[place];
  pyramid_ = SumPyramid<std::int64_t>(
      names_.size(), rounds, times_rounds_per_block,
      [this](std::size_t place, std::span<std::int64_t> row) { add_round(place, row); });
}

void PartedTimes::add_round(std::size_t place, std::span<std::int64_t> row) const {
  for (std::size_t i = first_[place]; i < first_[place + 1]; ++i) row[part_[i]] += ns_[i];
}

std::vector<std::int64_t> PartedTimes::sum(std::size_t first, std::size_t last) const {
  std::vector<std::int64_t> row(names_.size());
  pyramid_.add(first, last, row,
               [this](std::size_t place, std::span<std::int64_t> into) { add_round(place, into); });
  return row;
}

}  // namespace draftscope::gui
