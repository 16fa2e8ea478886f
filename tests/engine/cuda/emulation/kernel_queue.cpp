// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_queue.h"

#include <fmt/format.h>

#include <utility>

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr int max_blocks_ahead = 8;  // each has a stack a thread

}  // namespace

std::uint32_t KernelQueue::number(std::size_t place) const {
  return ended_ + static_cast<std::uint32_t>(place) + 1;
}

void KernelQueue::add(QueuedKernel kernel) {
  const bool starts_alone = queue_.empty() || queue_.back().kernel.grid.is_cooperative;
  if (starts_alone || !kernel.grid.may_start_early) window_begin_ = number(queue_.size());
  queue_.push_back({std::move(kernel), window_begin_, nullptr});
}

GridRun& KernelQueue::run_of(Launched& launched) {
  if (launched.run == nullptr)
    launched.run = std::make_unique<GridRun>(launched.kernel.grid, launched.kernel.body,
                                             static_cast<std::uint32_t>(order_()));
  return *launched.run;
}

template <typename Step>
bool KernelQueue::as_kernel(std::size_t place, Step step) {
  struct Leave {
    ~Leave() { DeviceAccesses::leave(); }
  } leave;
  GridRun& run = run_of(queue_[place]);
  accesses_.enter(number(place), queue_[place].first_unfinished);
  return step(run);
}

Result<void> KernelQueue::run() {
  for (std::size_t first = 0; first < queue_.size(); ++first) {
    GridRun& run = run_of(queue_[first]);
    blocks_ahead_ -= run.started_blocks();
    run.let_through();
    if (const Grid& grid = queue_[first].kernel.grid; grid.is_cooperative)
      accesses_.begin_together(grid.blocks);
    bool goes_on = true;
    while (goes_on) {
      if (order_() % 2 == 0) start_ahead(first);
      goes_on = as_kernel(first, [](GridRun& grid) { return grid.go_on(); });
    }
    queue_[first].run.reset();
  }
  Result<void> result;
  if (const std::optional<EarlyConflict> conflict = accesses_.take_conflict())
    result = tl::unexpected(described(*conflict));
  else if (const std::optional<BlockConflict> between = accesses_.take_block_conflict())
    result = tl::unexpected(described(*between));
  ended_ = number(queue_.size()) - 1;
  queue_.clear();
  return result;
}

/// Starts a block of a kernel behind the first one that has not ended: mostly of a near one.
void KernelQueue::start_ahead(std::size_t first) {
  if (blocks_ahead_ == max_blocks_ahead) return;
  std::size_t place = first;
  do {
    if (place + 1 == queue_.size() || !queue_[place + 1].kernel.grid.may_start_early) break;
    if (queue_[place].kernel.grid.is_cooperative) break;
    ++place;
  } while (order_() % 2 == 0);
  if (place > first && as_kernel(place, [](GridRun& grid) { return grid.start_block(); })) ++blocks_ahead_;
}

const QueuedKernel& KernelQueue::kernel(std::uint32_t number) const {
  return queue_[number - this->number(0)].kernel;
}

std::string KernelQueue::place(const QueuedKernel& kernel, const std::byte* address) const {
  std::string place = accesses_.place(address);
  return kernel.place ? fmt::format("{} ({})", kernel.place(address), place) : place;
}

Error KernelQueue::described(const EarlyConflict& conflict) const {
  const QueuedKernel& early = kernel(conflict.early);
  const std::string where = place(early, conflict.address);
  if (conflict.writer == 0)
    return Error{fmt::format("emulated GPU: {} writes {} before its wait", early.name(), where)};
  return Error{
      fmt::format("emulated GPU: {} reads {} before its wait, where {}, {} launches ahead of it, writes and "
                  "may still run",
                  early.name(), where, kernel(conflict.writer).name(), conflict.early - conflict.writer)};
}

Error KernelQueue::described(const BlockConflict& conflict) const {
  const QueuedKernel& grid = kernel(conflict.kernel);
  return Error{fmt::format(
      "emulated GPU: {}: block {} {} {} after block {} {} it, and nothing orders the two ({}-after-{})",
      grid.name(), conflict.second_block, conflict.second_writes ? "writes" : "reads",
      place(grid, conflict.address), conflict.first_block, conflict.first_writes ? "wrote" : "read",
      conflict.second_writes ? "write" : "read", conflict.first_writes ? "write" : "read")};
}

}  // namespace draftscope::engine::cuda::emulation
