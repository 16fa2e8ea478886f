// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_emulation.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "block.h"

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr std::size_t blocks_at_a_time = 8;  // Each block has one stack per thread.

/// Blocks that have ended, whose memory later blocks reuse.
std::vector<std::unique_ptr<Block>>& spare_blocks() {
  static std::vector<std::unique_ptr<Block>> all;
  return all;
}

/// Sets the running block until the end of the scope.
class Running {
 public:
  Running(Block& block, bool is_cooperative) {
    current = &block;
    if (is_cooperative) cooperative_block = block.here().block;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    current = nullptr;
    cooperative_block = -1;
  }
};

}  // namespace

class GridRun::Implementation {
 public:
  Implementation(const Grid& grid, std::function<void()> body, std::uint32_t seed)
      : grid_(grid), body_(std::move(body)), order_(seed), to_start_(static_cast<std::size_t>(grid.blocks)) {
    std::iota(to_start_.begin(), to_start_.end(), 0);
    std::shuffle(to_start_.begin(), to_start_.end(), order_);
  }

  bool go_on() {
    if (grid_.is_cooperative) return go_on_together();
    // Prefer the block that ran last, since its stacks are still in the cache.
    constexpr unsigned stay = 4;
    if (under_way_.empty() || (order_() % stay == 0 && under_way_.size() < blocks_at_a_time)) {
      if (!to_start_.empty())
        begin_block();
      else if (under_way_.empty())
        return false;
    }
    if (order_() % stay == 0) std::swap(under_way_[order_() % under_way_.size()], under_way_.back());
    if (run(*under_way_.back()) == Block::State::ended) end_block();
    return true;
  }

 private:
  /// Runs one step of a cooperative grid's block, preferably the one that ran last.
  bool go_on_together() {
    constexpr unsigned stay = 4;
    while (!to_start_.empty()) begin_block();
    if (under_way_.empty()) return false;
    if (order_() % stay == 0) std::swap(under_way_[order_() % under_way_.size()], under_way_.back());
    if (!advance(*under_way_.back()) && !advance_another()) end_deadlock();
    if (under_way_.back()->has_ended()) end_block();
    return true;
  }

  /// Advances any block that can run and moves it to the back.
  bool advance_another() {
    std::shuffle(under_way_.begin(), under_way_.end(), order_);
    for (std::unique_ptr<Block>& block : under_way_)
      if (advance(*block)) {
        std::swap(block, under_way_.back());
        return true;
      }
    return false;
  }

  /// Emulates the timeout of one second after which a device's wait for arrivals ends.
  void end_deadlock() {
    bool any = false;
    for (const std::unique_ptr<Block>& block : under_way_) any |= block->end_waits_for_arrivals();
    if (any) return;
    std::string waits;
    for (const std::unique_ptr<Block>& block : under_way_)
      waits += (waits.empty() ? "" : "; ") + block->waits();
    throw std::logic_error("kernel emulation: no thread of the grid can go on: " + waits);
  }

  void end_block() {
    spare_blocks().push_back(std::move(under_way_.back()));
    under_way_.pop_back();
  }

  void begin_block() {
    const int index = to_start_.back();
    to_start_.pop_back();
    std::unique_ptr<Block> block;
    if (spare_blocks().empty()) {
      block = std::make_unique<Block>();
    } else {
      block = std::move(spare_blocks().back());
      spare_blocks().pop_back();
    }
    block->begin(grid_, index, body_);
    under_way_.push_back(std::move(block));
  }

  Block::State run(Block& block) {
    const Running running(block, false);
    return block.run(order_);
  }
  bool advance(Block& block) {
    const Running running(block, true);
    return block.advance(order_);
  }

  Grid grid_;
  std::function<void()> body_;
  Order order_;
  std::vector<int> to_start_;                      // Blocks start from the back.
  std::vector<std::unique_ptr<Block>> under_way_;  // The block that ran last is at the back.
};

GridRun::GridRun(const Grid& grid, std::function<void()> body, std::uint32_t seed)
    : implementation_(std::make_unique<Implementation>(grid, std::move(body), seed)) {}
GridRun::~GridRun() = default;
bool GridRun::go_on() {
  return implementation_->go_on();
}

}  // namespace draftscope::engine::cuda::emulation
