// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_emulation.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device_accesses.h"
#include "device_emulation.h"
#include "loop_condition.h"

namespace draftscope::engine::cuda {

namespace emulation {

namespace {

namespace context = boost::context;

/// A lane's part of an exchange within its warp.
using Words = std::array<std::uint32_t, 6>;

/// The place of the fiber that runs at the moment.
struct Here {
  int thread, block, blocks, threads;
  std::byte* shared;
};

constexpr std::size_t stack_bytes = 64 * 1024;
constexpr int blocks_at_a_time = 8;  // each has a stack a thread

using Order = std::minstd_rand;

enum class Waits { for_nothing, for_warp, for_block, for_kernels_before, ended };

constexpr std::size_t copy_bytes = 16;

/// A copy under way; from null come zeros.
struct Copy {
  std::byte* to;
  const std::byte* from;
};

struct Thread {
  context::fiber fiber;
  Waits waits = Waits::for_nothing;
  int exchanges = 0;
  bool has_waited_for_kernels = false;
  std::vector<Copy> copies;              ///< in the order in which they were started
  std::vector<std::size_t> copy_groups;  ///< how many copies each has that nobody has waited for
  std::size_t ungrouped = 0;             ///< copies that are in no group yet
};

context::pooled_fixedsize_stack& stacks() {
  static context::pooled_fixedsize_stack all(stack_bytes);
  return all;
}

/// One block under way. Shared memory holds anything at its start; this is a NaN in every format.
class Block {
 public:
  enum class State { goes_on, waits_for_kernels, ended };

  Block(const Grid& grid, int index, const std::function<void()>& body)
      : must_wait_(grid.may_start_early),
        shared_(grid.shared_bytes, std::byte{0xff}),
        threads_(static_cast<std::size_t>(grid.threads)),
        warps_(threads_.size() / 32),
        warp_order_(warps_.size()) {
    std::iota(warp_order_.begin(), warp_order_.end(), std::size_t{0});
    here_ = {0, index, grid.blocks, grid.threads, shared_.data()};
    for (std::size_t i = 0; i < threads_.size(); ++i)
      threads_[i].fiber =
          context::fiber(std::allocator_arg, stacks(), [this, i, &body](context::fiber&& scheduler) {
            scheduler_ = std::move(scheduler);
            body();
            threads_[i].waits = Waits::ended;
            if (!threads_[i].copies.empty())
              fault_ = "a thread ends while copies that it started are under way";
            return std::move(scheduler_);
          });
  }

  /// The kernels before have ended.
  void let_through() {
    kernels_before_have_ended_ = true;
    release(Waits::for_kernels_before, 0, threads_.size());
  }

  /// Up to a barrier of the whole block, to the end, or until nothing goes on before the kernels before have
  /// ended.
  State run(Order& order) {
    std::shuffle(warp_order_.begin(), warp_order_.end(), order);
    bool progress = true;
    while (progress) {
      progress = false;
      for (const std::size_t warp : warp_order_) progress |= run_warp(warp);
    }
    if (fault_ != nullptr) throw std::logic_error(std::string("kernel emulation: ") + fault_);
    if (count(Waits::ended, 0, threads_.size()) == threads_.size()) {
      check_waits();
      return State::ended;
    }
    if (count(Waits::for_kernels_before, 0, threads_.size()) != 0) return State::waits_for_kernels;
    // Threads that have ended do not hold a barrier up.
    if (count(Waits::for_warp, 0, threads_.size()) != 0)
      throw std::logic_error("kernel emulation: some lanes of a warp wait for lanes that wait elsewhere");
    release(Waits::for_block, 0, threads_.size());
    return State::goes_on;
  }

  void wait(Waits what) {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    thread.waits = what;
    scheduler_ = std::move(scheduler_).resume();
  }

  void wait_for_kernels() {
    threads_[static_cast<std::size_t>(here_.thread)].has_waited_for_kernels = true;
    runs_before_wait = false;
    if (!kernels_before_have_ended_) wait(Waits::for_kernels_before);
  }

  /// All lanes of the warp call it; returns what each handed in, valid until this lane's next exchange.
  const std::array<Words, 32>& exchange(const Words& mine) {
    const auto index = static_cast<std::size_t>(here_.thread);
    const int turn = threads_[index].exchanges++ % 2;
    // Two turns: a lane may be one exchange ahead of another that still reads.
    std::array<Words, 32>& words = warps_[index / 32][static_cast<std::size_t>(turn)];
    words[index % 32] = mine;
    wait(Waits::for_warp);
    return words;
  }

  void begin_copy(const Copy& copy) {
    const auto place =
        reinterpret_cast<std::uintptr_t>(copy.to) | reinterpret_cast<std::uintptr_t>(copy.from);
    if (place % copy_bytes != 0) fault_ = "a copy is not aligned to 16 bytes";
    std::memset(copy.to, 0xff, copy_bytes);
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    thread.copies.push_back(copy);
    ++thread.ungrouped;
  }
  void end_copy_group() {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    thread.copy_groups.push_back(std::exchange(thread.ungrouped, 0));
  }
  void wait_for_copies(std::size_t left) {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    if (thread.copy_groups.size() <= left) return;
    const auto groups = thread.copy_groups.end() - static_cast<std::ptrdiff_t>(left);
    const std::size_t n = std::accumulate(thread.copy_groups.begin(), groups, std::size_t{0});
    thread.copy_groups.erase(thread.copy_groups.begin(), groups);
    for (std::size_t i = 0; i < n; ++i) {
      const Copy& copy = thread.copies[i];
      if (copy.from == nullptr)
        std::memset(copy.to, 0, copy_bytes);
      else
        std::memcpy(copy.to, copy.from, copy_bytes);
    }
    thread.copies.erase(thread.copies.begin(), thread.copies.begin() + static_cast<std::ptrdiff_t>(n));
  }

  [[nodiscard]] const Here& here() const { return here_; }
  void note_fault(const char* fault) { fault_ = fault; }

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
        runs_before_wait = must_wait_ && !threads_[i].has_waited_for_kernels;
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
  const char* fault_ = nullptr;  ///< of a thread, found where nothing can be thrown
  std::vector<std::byte> shared_;
  std::vector<Thread> threads_;
  std::vector<std::array<std::array<Words, 32>, 2>> warps_;
  std::vector<std::size_t> warp_order_;
  context::fiber scheduler_;
  Here here_{};
};

Block* current = nullptr;

}  // namespace

bool runs_before_wait = false;

class GridRun::Implementation {
 public:
  Implementation(const Grid& grid, std::function<void()> body, std::uint32_t seed)
      : grid_(grid), body_(std::move(body)), order_(seed), to_start_(static_cast<std::size_t>(grid.blocks)) {
    std::iota(to_start_.begin(), to_start_.end(), 0);
    std::shuffle(to_start_.begin(), to_start_.end(), order_);
  }

  bool start_block() {
    if (!grid_.may_start_early || to_start_.empty() || started_blocks() == blocks_at_a_time) return false;
    Block& block = begin_block();
    Block::State state = Block::State::goes_on;
    while (state == Block::State::goes_on) state = run(block);
    return true;
  }

  [[nodiscard]] int started_blocks() const { return static_cast<int>(under_way_.size()); }

  void let_through() {
    for (const std::unique_ptr<Block>& block : under_way_) block->let_through();
  }

  bool go_on() {
    // Mostly the block that ran last: its stacks are in the cache.
    constexpr unsigned stay = 4;
    if (under_way_.empty() || (order_() % stay == 0 && started_blocks() < blocks_at_a_time)) {
      if (!to_start_.empty())
        begin_block().let_through();
      else if (under_way_.empty())
        return false;
    }
    if (order_() % stay == 0) std::swap(under_way_[order_() % under_way_.size()], under_way_.back());
    if (run(*under_way_.back()) == Block::State::ended) under_way_.pop_back();
    return true;
  }

 private:
  Block& begin_block() {
    const int index = to_start_.back();
    to_start_.pop_back();
    return *under_way_.emplace_back(std::make_unique<Block>(grid_, index, body_));
  }

  Block::State run(Block& block) {
    current = &block;
    const Block::State state = block.run(order_);
    current = nullptr;
    runs_before_wait = false;
    return state;
  }

  Grid grid_;
  std::function<void()> body_;
  Order order_;
  std::vector<int> to_start_;                      // from the back
  std::vector<std::unique_ptr<Block>> under_way_;  // the one that ran last is at the back
};

GridRun::GridRun(const Grid& grid, std::function<void()> body, std::uint32_t seed)
    : implementation_(std::make_unique<Implementation>(grid, std::move(body), seed)) {}
GridRun::~GridRun() = default;
bool GridRun::start_block() {
  return implementation_->start_block();
}
int GridRun::started_blocks() const {
  return implementation_->started_blocks();
}
void GridRun::let_through() {
  implementation_->let_through();
}
bool GridRun::go_on() {
  return implementation_->go_on();
}

}  // namespace emulation

int thread_index() {
  return emulation::current->here().thread;
}
int block_index() {
  return emulation::current->here().block;
}
int block_count() {
  return emulation::current->here().blocks;
}
int block_threads() {
  return emulation::current->here().threads;
}
std::byte* shared_memory() {
  return emulation::current->here().shared;
}
void synchronise() {
  emulation::current->wait(emulation::Waits::for_block);
}
void synchronise_lanes() {
  emulation::current->wait(emulation::Waits::for_warp);
}
void wait_for_previous_kernel() {
  emulation::current->wait_for_kernels();
}

void begin_copy(std::byte* to, const std::byte* from, bool present) {
  if (present) emulation::note_device_read(from, emulation::copy_bytes);
  emulation::current->begin_copy({to, present ? from : nullptr});
}
void end_copy_group() {
  emulation::current->end_copy_group();
}
void emulation::wait_for_copy_groups(std::size_t left) {
  current->wait_for_copies(left);
}

void go_on_if(std::uint64_t loop, bool goes_on) {
  if (emulation::LoopCondition* const condition = emulation::find_loop_condition(loop))
    condition->set(goes_on);
  else
    emulation::current->note_fault("a kernel ends or goes on with a loop that is not there");
}

std::uint32_t shuffle_xor(std::uint32_t value, int mask) {
  const int lane = thread_index() % 32;
  return emulation::current->exchange({value})[static_cast<std::size_t>(lane ^ mask)][0];
}

namespace emulation {

template <typename Element>
void multiply_accumulate(float (&sum)[4], const Words& mine) {
  const auto& all = current->exchange(mine);
  const auto lane = static_cast<std::size_t>(thread_index() % 32);
  const std::size_t g = lane / 4;
  const std::size_t t = lane % 4;
  const auto half = [](std::uint32_t word, std::size_t which) {
    return Element::to_float(static_cast<std::uint16_t>(word >> (16 * which)));
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t lower = i / 2;  // row g or g + 8
    const std::size_t column = t * 2 + i % 2;
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t pair = k % 8 / 2;
      const Words& a = all[g * 4 + pair];
      const Words& b = all[column * 4 + pair];
      sum[i] += half(a[k / 8 * 2 + lower], k % 2) * half(b[4 + k / 8], k % 2);
    }
  }
}

}  // namespace emulation

void Bf16::multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                               std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  emulation::multiply_accumulate<Bf16>(sum, {a0, a1, a2, a3, b0, b1});
}
void F16::multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                              std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  emulation::multiply_accumulate<F16>(sum, {a0, a1, a2, a3, b0, b1});
}

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
