// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_emulation.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstring>
#include <numeric>
#include <optional>
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

/// A lane's part of an exchange within its warp: a number, or the factors of an mma.
using Words = std::array<float, 12>;

/// The place of the fiber that runs at the moment.
struct Here {
  int thread, block, blocks, threads;
  std::byte* shared;
};

/// No power of two: lanes that take turns would find all of their stacks in the same few lines of a cache.
constexpr std::size_t stack_bytes = 64 * 1024 + 5 * 64;
constexpr int blocks_at_a_time = 8;  // each has a stack a thread

using Order = std::minstd_rand;

enum class Waits : std::uint8_t { for_nothing, for_warp, for_block, for_kernels_before, ended };

constexpr std::size_t copy_bytes = 16;

/// A copy under way; from null come zeros.
struct Copy {
  std::byte* to;
  const std::byte* from;
};

/// Some in a row, of which the first leave first; no more than `most`.
template <typename Value, std::size_t most>
class Queue {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  /// False if it is full.
  bool push(const Value& value) {
    if (size_ == most) return false;
    values_[(first_ + size_++) % most] = value;
    return true;
  }
  /// The first value, which must be there; it leaves.
  Value pop() {
    const Value value = values_[first_];
    first_ = (first_ + 1) % most;
    --size_;
    return value;
  }
  void clear() { first_ = size_ = 0; }

 private:
  std::array<Value, most> values_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

struct Thread {
  context::fiber fiber;  ///< while it waits
  int exchanges = 0;
  bool has_waited_for_kernels = false;
  // As few as kernels need: what 256 threads have shall stay in a cache.
  Queue<Copy, 32> copies;              ///< in the order in which they were started
  Queue<std::uint8_t, 8> copy_groups;  ///< how many copies each has that nobody has waited for
  std::uint8_t ungrouped = 0;          ///< copies that are in no group yet
};

context::pooled_fixedsize_stack& stacks() {
  static context::pooled_fixedsize_stack all(stack_bytes);
  return all;
}

/// One block under way.
class Block {
 public:
  enum class State { goes_on, waits_for_kernels, ended };

  /// Makes it a grid's block `index`; none of its threads may be under way. Shared memory holds anything at
  /// its start; this is a NaN in every format.
  void begin(const Grid& grid, int index, const std::function<void()>& body) {
    must_wait_ = grid.may_start_early;
    kernels_before_have_ended_ = false;
    fault_ = nullptr;
    shared_.assign(grid.shared_bytes, std::byte{0xff});
    threads_.resize(static_cast<std::size_t>(grid.threads));
    waits_.assign(threads_.size(), Waits::for_nothing);
    warps_.resize(threads_.size() / warp_threads);
    warp_order_.resize(warps_.size());
    std::iota(warp_order_.begin(), warp_order_.end(), std::size_t{0});
    here_ = {0, index, grid.blocks, grid.threads, shared_.data()};
    for (std::size_t i = 0; i < threads_.size(); ++i) begin(i, body);
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
    const auto mine = static_cast<std::size_t>(here_.thread);
    waits_[mine] = what;
    const std::optional<std::size_t> next = lane_to_run(mine + 1, warp_end(mine));
    if (!next) return came_from(std::move(scheduler_).resume());
    enter(*next);
    came_from(std::move(threads_[*next].fiber).resume_with([this, mine](context::fiber&& waiting) {
      threads_[mine].fiber = std::move(waiting);
      return context::fiber();
    }));
  }

  void wait_for_kernels() {
    threads_[static_cast<std::size_t>(here_.thread)].has_waited_for_kernels = true;
    runs_before_wait = false;
    if (!kernels_before_have_ended_) wait(Waits::for_kernels_before);
  }

  /// Words of this lane for its next exchange.
  Words& to_hand_in() {
    const auto mine = static_cast<std::size_t>(here_.thread);
    return words_of(mine)[mine % warp_threads];
  }
  /// All lanes of the warp call it; returns what each handed in, valid until this lane's next exchange.
  const std::array<Words, warp_threads>& exchange() {
    const auto mine = static_cast<std::size_t>(here_.thread);
    const std::array<Words, warp_threads>& words = words_of(mine);
    ++threads_[mine].exchanges;
    wait(Waits::for_warp);
    return words;
  }

  void begin_copy(const Copy& copy) {
    const auto place =
        reinterpret_cast<std::uintptr_t>(copy.to) | reinterpret_cast<std::uintptr_t>(copy.from);
    if (place % copy_bytes != 0) fault_ = "a copy is not aligned to 16 bytes";
    std::memset(copy.to, 0xff, copy_bytes);
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    if (thread.copies.push(copy))
      ++thread.ungrouped;
    else
      fault_ = "a thread has more than 32 copies under way";
  }
  void end_copy_group() {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    if (!thread.copy_groups.push(std::exchange(thread.ungrouped, std::uint8_t{0})))
      fault_ = "a thread has more than 8 groups of copies under way";
  }
  void wait_for_copies(std::size_t left) {
    Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
    while (thread.copy_groups.size() > left)
      for (std::size_t n = thread.copy_groups.pop(); n > 0; --n) {
        const Copy copy = thread.copies.pop();
        if (copy.from == nullptr)
          std::memset(copy.to, 0, copy_bytes);
        else
          std::memcpy(copy.to, copy.from, copy_bytes);
      }
  }

  [[nodiscard]] const Here& here() const { return here_; }
  void note_fault(const char* fault) { fault_ = fault; }

 private:
  void begin(std::size_t index, const std::function<void()>& body) {
    Thread& thread = threads_[index];
    thread.exchanges = 0;
    thread.has_waited_for_kernels = false;
    thread.copies.clear();
    thread.copy_groups.clear();
    thread.ungrouped = 0;
    thread.fiber = context::fiber(std::allocator_arg, stacks(), [this, index, &body](context::fiber&& from) {
      came_from(std::move(from));
      body();
      waits_[index] = Waits::ended;
      if (threads_[index].copies.size() != 0)
        fault_ = "a thread ends while copies that it started are under way";
      const std::optional<std::size_t> next = lane_to_run(index + 1, warp_end(index));
      if (!next) return std::move(scheduler_);
      enter(*next);
      return std::move(threads_[*next].fiber);
    });
  }

  static std::size_t warp_end(std::size_t thread) { return (thread / warp_threads + 1) * warp_threads; }

  /// The first thread from `begin` on, before `end`, that waits for nothing.
  [[nodiscard]] std::optional<std::size_t> lane_to_run(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
      if (waits_[i] == Waits::for_nothing) return i;
    return std::nullopt;
  }

  /// The thread that runs from here on.
  void enter(std::size_t thread) {
    here_.thread = static_cast<int>(thread);
    runs_before_wait = must_wait_ && !threads_[thread].has_waited_for_kernels;
  }

  /// A thread goes on, let on by the scheduler, or by another thread, which leaves nothing.
  void came_from(context::fiber&& from) {
    if (from) scheduler_ = std::move(from);
  }

  /// Two turns: a lane may be one exchange ahead of another that still reads.
  std::array<Words, warp_threads>& words_of(std::size_t thread) {
    return warps_[thread / warp_threads][static_cast<std::size_t>(threads_[thread].exchanges % 2)];
  }

  /// Runs what can run of a warp; true if anything did.
  bool run_warp(std::size_t warp) {
    const std::size_t begin = warp * warp_threads;
    const std::size_t end = begin + warp_threads;
    bool progress = false;
    while (const std::optional<std::size_t> first = lane_to_run(begin, end)) {
      progress = true;
      // Each lets the next one on, and the last one comes back.
      enter(*first);
      context::fiber last = std::move(threads_[*first].fiber).resume();
      threads_[static_cast<std::size_t>(here_.thread)].fiber = std::move(last);
      if (count(Waits::for_warp, begin, end) == warp_threads) release(Waits::for_warp, begin, end);
    }
    return progress;
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
    return static_cast<std::size_t>(std::count(&waits_[begin], waits_.data() + end, what));
  }

  void release(Waits what, std::size_t begin, std::size_t end) {
    std::replace(&waits_[begin], waits_.data() + end, what, Waits::for_nothing);
  }

  bool must_wait_ = false;
  bool kernels_before_have_ended_ = false;
  const char* fault_ = nullptr;  ///< of a thread, found where nothing can be thrown
  std::vector<std::byte> shared_;
  std::vector<Thread> threads_;
  std::vector<Waits> waits_;  ///< of each thread
  std::vector<std::array<std::array<Words, warp_threads>, 2>> warps_;
  std::vector<std::size_t> warp_order_;
  context::fiber scheduler_;
  Here here_{};
};

Block* current = nullptr;

/// Blocks that have ended, whose memory others take.
std::vector<std::unique_ptr<Block>>& spare_blocks() {
  static std::vector<std::unique_ptr<Block>> all;
  return all;
}

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
    if (run(*under_way_.back()) == Block::State::ended) {
      spare_blocks().push_back(std::move(under_way_.back()));
      under_way_.pop_back();
    }
    return true;
  }

 private:
  Block& begin_block() {
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
    return *under_way_.emplace_back(std::move(block));
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
  const int lane = thread_index() % warp_threads;
  emulation::current->to_hand_in()[0] = std::bit_cast<float>(value);
  return std::bit_cast<std::uint32_t>(
      emulation::current->exchange()[static_cast<std::size_t>(lane ^ mask)][0]);
}

namespace emulation {

template <typename Element>
void multiply_accumulate(float (&sum)[4], const std::array<std::uint32_t, 6>& mine) {
  Words& factors = current->to_hand_in();
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = Element::to_float(static_cast<std::uint16_t>(mine[i / 2] >> (16 * (i % 2))));
  const auto& all = current->exchange();
  const auto lane = static_cast<std::size_t>(thread_index() % warp_threads);
  const std::size_t g = lane / 4;
  const std::size_t t = lane % 4;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t lower = i / 2;  // row g or g + 8
    const std::size_t column = t * 2 + i % 2;
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t pair = k % 8 / 2;
      const Words& a = all[g * 4 + pair];
      const Words& b = all[column * 4 + pair];
      sum[i] += a[(k / 8 * 2 + lower) * 2 + k % 2] * b[(4 + k / 8) * 2 + k % 2];
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
