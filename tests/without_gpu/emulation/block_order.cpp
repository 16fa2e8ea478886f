// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_order.h"

#include <algorithm>
#include <stdexcept>

namespace draftscope::engine::cuda::emulation {

namespace {

void join(std::vector<std::uint32_t>& clocks, const std::vector<std::uint32_t>& others) {
  std::transform(clocks.begin(), clocks.end(), others.begin(), clocks.begin(),
                 [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

}  // namespace

bool BlockOrder::begin(int blocks) {
  if (blocks > max_blocks)
    throw std::logic_error("kernel emulation: a cooperative grid of more than 256 blocks");
  for (std::size_t i = 0; i < clocks_.size(); ++i) begin_ = std::max(begin_, clocks_[i][i] + 1);
  // A grid has enough clock values if half of them are left.
  const bool goes_on = begin_ <= max_clock / 2;
  if (!goes_on) begin_ = 1;
  clocks_.assign(static_cast<std::size_t>(blocks), Clocks(static_cast<std::size_t>(blocks), begin_ - 1));
  for (std::size_t i = 0; i < clocks_.size(); ++i) clocks_[i][i] = begin_;
  arrivals_.clear();
  return goes_on;
}

void BlockOrder::arrive(int block, const unsigned* counter, unsigned before, unsigned n) {
  std::vector<Arrival>& all = arrivals_[counter];
  Clocks& mine = clocks_[static_cast<std::size_t>(block)];
  if (!all.empty()) join(mine, all.back().clocks);
  all.push_back({before, before + n, mine});
  ++mine[static_cast<std::size_t>(block)];
}

void BlockOrder::see_arrivals(int block, const unsigned* counter, unsigned n) {
  const auto found = arrivals_.find(counter);
  if (found == arrivals_.end()) return;
  // Find the arrival that completed the number. If there is none, all of them were counted before the grid.
  const auto completes = [&](const Arrival& arrival) {
    return static_cast<int>(n - arrival.before) > 0 && static_cast<int>(arrival.after - n) >= 0;
  };
  const auto last = std::find_if(found->second.rbegin(), found->second.rend(), completes);
  if (last != found->second.rend()) join(clocks_[static_cast<std::size_t>(block)], last->clocks);
}

}  // namespace draftscope::engine::cuda::emulation
