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

enum class Waits { for_nothing, for_warp, for_block, for_kernels_before, ended };

struct Thread {
  context::fiber fiber;
  Waits waits = Waits::for_nothing;
  int exchanges = 0;
  bool has_waited_for_kernels = false;
};

context::pooled_fixedsize_stack& stacks() {
  static context::pooled_fixedsize_stack all(stack_bytes);
  return all;
}

/// One block under way. Shared memory holds anything at its start; this is a NaN in every format.
class Block {
 public:
  Block(const Grid& grid, int index, const std::function<void()>& body)
      : must_wait_(grid.may_start_early),
        shared_(grid.shared_bytes, std::byte{0xff}),
        threads_(static_cast<std::size_t>(grid.threads)),
        warps_(threads_.size() / 32) {
    here_ = {0, index, grid.blocks, grid.threads, shared_.data()};
    for (std::size_t i = 0; i < threads_.size(); ++i)
      threads_[i].fiber =
          context::fiber(std::allocator_arg, stacks(), [this, i, &body](context::fiber&& scheduler) {
            scheduler_ = std::move(scheduler);
            body();
            threads_[i].waits = Waits::ended;
            return std::move(scheduler_);
          });
  }

  /// The kernels before have ended.
  void let_through() {
    kernels_before_have_ended_ = true;
    release(Waits::for_kernels_before, 0, threads_.size());
  }

  /// To the end, or until nothing goes on before the kernels before have ended.
  void run() {
    for (;;) {
      bool progress = false;
      for (std::size_t warp = 0; warp < warps_.size(); ++warp) progress |= run_warp(warp);
      if (count(Waits::ended, 0, threads_.size()) == threads_.size()) return check_waits();
      if (progress) continue;
      if (count(Waits::for_kernels_before, 0, threads_.size()) != 0) return;
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

  void wait_for_kernels() {
    threads_[static_cast<std::size_t>(here_.thread)].has_waited_for_kernels = true;
    if (!kernels_before_have_ended_) wait(Waits::for_kernels_before);
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

  void check_waits() const {
    if (!must_wait_) return;
    for (const Thread& thread : threads_)
      if (!thread.has_waited_for_kernels)
        throw std::logic_error(
            "kernel emulation: a thread ends that has not waited for the kernels before, beside which it may "
            "start");
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

  bool must_wait_;
  bool kernels_before_have_ended_ = false;
  std::vector<std::byte> shared_;
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

void wait_for_kernels() {
  current->wait_for_kernels();
}

class GridRun::Implementation {
 public:
  Implementation(const Grid& grid, std::function<void()> body) : grid_(grid), body_(std::move(body)) {}

  void start() {
    constexpr int most = 8;  // blocks at a time: each has a stack a thread
    if (!grid_.may_start_early) return;
    for (int index = 0; index < std::min(grid_.blocks, most); ++index)
      run(*early_.emplace_back(std::make_unique<Block>(grid_, index, body_)));
  }

  void finish() {
    for (std::unique_ptr<Block>& block : early_) {
      block->let_through();
      run(*block);
      block.reset();
    }
    for (int index = static_cast<int>(early_.size()); index < grid_.blocks; ++index) {
      Block block(grid_, index, body_);
      block.let_through();
      run(block);
    }
    early_.clear();
  }

 private:
  static void run(Block& block) {
    current = &block;
    block.run();
    current = nullptr;
  }

  Grid grid_;
  std::function<void()> body_;
  std::vector<std::unique_ptr<Block>> early_;
};

GridRun::GridRun(const Grid& grid, std::function<void()> body)
    : implementation_(std::make_unique<Implementation>(grid, std::move(body))) {}
GridRun::~GridRun() = default;
void GridRun::start() {
  implementation_->start();
}
void GridRun::finish() {
  implementation_->finish();
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
