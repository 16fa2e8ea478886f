// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_emulation.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device_emulation.h"

namespace draftscope::engine::cuda {

namespace emulation {

namespace {

namespace context = boost::context;

constexpr std::size_t stack_bytes = 64 * 1024;

enum class Waits { for_nothing, for_warp, for_block, ended };

struct Thread {
  context::fiber fiber;
  Waits waits = Waits::for_nothing;
  int exchanges = 0;
};

/// One block under way.
class Block {
 public:
  Block(const Grid& grid, int index, const std::function<void()>& body, std::vector<std::byte>& shared,
        context::pooled_fixedsize_stack& stacks)
      : threads_(static_cast<std::size_t>(grid.threads)), warps_(threads_.size() / 32) {
    here_ = {0, index, grid.blocks, grid.threads, shared.data()};
    for (std::size_t i = 0; i < threads_.size(); ++i)
      threads_[i].fiber =
          context::fiber(std::allocator_arg, stacks, [this, i, &body](context::fiber&& scheduler) {
            scheduler_ = std::move(scheduler);
            body();
            threads_[i].waits = Waits::ended;
            return std::move(scheduler_);
          });
  }

  void run() {
    for (;;) {
      bool progress = false;
      for (std::size_t warp = 0; warp < warps_.size(); ++warp) progress |= run_warp(warp);
      if (count(Waits::ended, 0, threads_.size()) == threads_.size()) return;
      if (progress) continue;
      // Threads that have ended do not hold a barrier up.
      if (count(Waits::for_warp, 0, threads_.size()) != 0)
        throw std::logic_error("kernel emulation: some lanes of a warp wait for lanes that wait elsewhere");
      release(Waits::for_block, 0, threads_.size());
    }
  }

  void wait(Waits what) {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    thread.waits = what;
    scheduler_ = std::move(scheduler_).resume();
  }

  const std::array<Words, 32>& exchange(const Words& mine) {
    const auto index = static_cast<std::size_t>(here_.thread);
    const int turn = threads_[index].exchanges++ % 2;
    // Two turns: a lane may be one exchange ahead of another that still reads.
    std::array<Words, 32>& words = warps_[index / 32][static_cast<std::size_t>(turn)];
    words[index % 32] = mine;
    wait(Waits::for_warp);
    return words;
  }

  [[nodiscard]] const Here& here() const { return here_; }

 private:
  /// Runs what can run of a warp; true if anything did.
  bool run_warp(std::size_t warp) {
    const std::size_t begin = warp * 32;
    const std::size_t end = begin + 32;
    bool progress = false;
    for (;;) {
      for (std::size_t i = begin; i < end; ++i) {
        if (threads_[i].waits != Waits::for_nothing) continue;
        progress = true;
        here_.thread = static_cast<int>(i);
        threads_[i].fiber = std::move(threads_[i].fiber).resume();
      }
      if (count(Waits::for_warp, begin, end) != 32) return progress;
      release(Waits::for_warp, begin, end);
    }
  }

  [[nodiscard]] std::size_t count(Waits what, std::size_t begin, std::size_t end) const {
    std::size_t n = 0;
    for (std::size_t i = begin; i < end; ++i) n += threads_[i].waits == what ? 1U : 0U;
    return n;
  }

  void release(Waits what, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (threads_[i].waits == what) threads_[i].waits = Waits::for_nothing;
  }

  std::vector<Thread> threads_;
  std::vector<std::array<std::array<Words, 32>, 2>> warps_;
  context::fiber scheduler_;
  Here here_{};
};

Block* current = nullptr;

}  // namespace

const Here& here() {
  return current->here();
}

void block_barrier() {
  current->wait(Waits::for_block);
}

const std::array<Words, 32>& exchange(const Words& mine) {
  return current->exchange(mine);
}

void run_grid(const Grid& grid, const std::function<void()>& body) {
  static context::pooled_fixedsize_stack stacks(stack_bytes);
  std::vector<std::byte> shared(grid.shared_bytes);
  for (int index = 0; index < grid.blocks; ++index) {
    // Shared memory holds anything at a block's start; this is a NaN in every format.
    std::fill(shared.begin(), shared.end(), std::byte{0xff});
    Block block(grid, index, body, shared, stacks);
    current = &block;
    block.run();
    current = nullptr;
  }
}

}  // namespace emulation

std::uint16_t F16::from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14F)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F)));
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + (bits >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>((rounded - 0x38000000U) >> 13));
}

}  // namespace draftscope::engine::cuda
