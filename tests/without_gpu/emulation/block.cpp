// SPDX-License-Identifier: GPL-3.0-or-later
#include "block.h"

#include <fmt/format.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DRAFTSCOPE_ADDRESS_SANITIZER 1
#include <sanitizer/asan_interface.h>
#endif
#endif
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <numeric>
#include <stdexcept>
#include <string_view>

namespace draftscope::engine::cuda::emulation {

namespace {

/// Not a power of two, since the stacks of lanes that take turns would share a few cache lines.
constexpr std::size_t stack_bytes = 64 * 1024 + 5 * 64;

/// AddressSanitizer does not follow an exception that ends a fiber. Its marks on the fiber's stack stay, and
/// the next fiber on that stack would report them.
class UnmarkedStacks {
 public:
  context::stack_context allocate() {
    const context::stack_context stack = pool_.allocate();
#ifdef DRAFTSCOPE_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
#endif
    return stack;
  }
  void deallocate(context::stack_context& stack) {
    pool_.deallocate(stack);
  }

 private:
  context::pooled_fixedsize_stack pool_{stack_bytes};
};

UnmarkedStacks& stacks() {
  static UnmarkedStacks all;
  return all;
}

}  // namespace

Block* current = nullptr;
int cooperative_block = -1;

void Block::begin(const Grid& grid, int index, const std::function<void()>& body) {
  is_cooperative_ = grid.is_cooperative;
  fault_ = nullptr;
  shared_.assign(grid.shared_bytes, std::byte{0xff});
  threads_.resize(static_cast<std::size_t>(grid.threads));
  waits_.assign(threads_.size(), Waits::for_nothing);
  warps_.resize(threads_.size() / warp_threads);
  warp_order_.resize(warps_.size());
  std::iota(warp_order_.begin(), warp_order_.end(), std::size_t{0});
  here_ = {0, index, grid.blocks, grid.threads, shared_.data()};
  conditions_.resize(is_cooperative_ ? threads_.size() : 0);
  pieces_.clear();
  last_warp_ = 0;
  steps_per_landing_ = 0;
  for (std::size_t i = 0; i < threads_.size(); ++i) begin(i, body);
}

void Block::begin(std::size_t index, const std::function<void()>& body) {
  Thread& thread = threads_[index];
  thread.exchanges = 0;
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

Block::State Block::run(Order& order) {
  std::shuffle(warp_order_.begin(), warp_order_.end(), order);
  bool progress = true;
  while (progress) {
    progress = false;
    for (const std::size_t warp : warp_order_) progress |= run_warp(warp);
  }
  throw_fault();
  if (has_ended()) return State::ended;
  // Threads that have ended do not block a barrier.
  if (count(Waits::for_warp, 0, threads_.size()) != 0)
    throw std::logic_error("kernel emulation: some lanes of a warp wait for lanes that wait elsewhere");
  release(Waits::for_block, 0, threads_.size());
  return State::goes_on;
}

/// Runs each lane of a warp that can run up to its next wait; false if there is none.
bool Block::run_lanes(std::size_t warp) {
  const std::size_t begin = warp * warp_threads;
  const std::size_t end = begin + warp_threads;
  const std::optional<std::size_t> first = lane_to_run(begin, end);
  if (!first) return false;
  // Each lane resumes the next one, and the last one returns here.
  enter(*first);
  context::fiber last = std::move(threads_[*first].fiber).resume();
  threads_[static_cast<std::size_t>(here_.thread)].fiber = std::move(last);
  if (count(Waits::for_warp, begin, end) == warp_threads) release(Waits::for_warp, begin, end);
  return true;
}

/// Runs a warp as far as possible; true if any lane ran.
bool Block::run_warp(std::size_t warp) {
  bool progress = false;
  while (run_lanes(warp)) progress = true;
  return progress;
}

void Block::throw_fault() const {
  if (fault_ != nullptr) throw std::logic_error(std::string("kernel emulation: ") + fault_);
}

void Block::begin_copy(const Copy& copy) {
  const auto place = reinterpret_cast<std::uintptr_t>(copy.to) | reinterpret_cast<std::uintptr_t>(copy.from);
  if (place % copy_bytes != 0) fault_ = "a copy is not aligned to 16 bytes";
  std::memset(copy.to, 0xff, copy_bytes);
  Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
  if (thread.copies.push(copy))
    ++thread.ungrouped;
  else
    fault_ = "a thread has more than 32 copies under way";
}

void Block::end_copy_group() {
  Thread& thread = threads_[static_cast<std::size_t>(here_.thread)];
  if (!thread.copy_groups.push(std::exchange(thread.ungrouped, std::uint8_t{0})))
    fault_ = "a thread has more than 8 groups of copies under way";
}

void Block::wait_for_copies(std::size_t left) {
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

bool Block::advance(Order& order) {
  constexpr unsigned max_steps_per_landing = 32;
  if (steps_per_landing_ == 0)
    steps_per_landing_ = 1 + static_cast<unsigned>(order() % max_steps_per_landing);
  order_ = &order;
  release_barriers();
  if (order() % steps_per_landing_ == 0) pieces_.land_one(order);
  const bool goes_on = run_some_warp(order) || pieces_.land_one(order);
  if (has_ended() && !pieces_.all_waited_for())
    fault_ = "a block ends while a piece is under way, or has come and nobody waited for it";
  throw_fault();
  return goes_on;
}

/// Behaves as a device's barrier: threads that have ended do block it.
void Block::release_barriers() {
  if (count(Waits::for_block, 0, threads_.size()) == threads_.size())
    release(Waits::for_block, 0, threads_.size());
}

/// Runs a warp, preferably the one that ran last, since its stacks are still in the cache.
bool Block::run_some_warp(Order& order) {
  constexpr unsigned stay = 4;
  const auto run = [&](std::size_t warp) {
    check_conditions(warp);
    last_warp_ = warp;
    return run_lanes(warp);
  };
  if (order() % stay != 0 && run(last_warp_)) return true;
  const std::size_t first = order() % warps_.size();
  for (std::size_t i = 0; i < warps_.size(); ++i)
    if (run((first + i) % warps_.size())) return true;
  return false;
}

/// Updates whether the condition that the thread waits for is met.
bool Block::check_condition(std::size_t thread) {
  Condition& condition = conditions_[thread];
  condition.is_met = condition.barrier != nullptr
                         ? pieces_.has_ended(condition.barrier, condition.value)
                         : static_cast<int>(*condition.counter - condition.value) >= 0;
  return condition.is_met;
}

void Block::check_conditions(std::size_t warp) {
  for (std::size_t i = warp * warp_threads; i < (warp + 1) * warp_threads; ++i)
    if (waits_[i] == Waits::for_turn ||
        ((waits_[i] == Waits::for_phase || waits_[i] == Waits::for_arrivals) && check_condition(i)))
      waits_[i] = Waits::for_nothing;
}

bool Block::wait_for_condition(Waits what, const Condition& condition) {
  const auto mine = static_cast<std::size_t>(here_.thread);
  conditions_[mine] = condition;
  if (!check_condition(mine)) wait(what);
  return conditions_[mine].is_met;
}

bool Block::end_waits_for_arrivals() {
  const bool any = count(Waits::for_arrivals, 0, threads_.size()) != 0;
  release(Waits::for_arrivals, 0, threads_.size());
  return any;
}

std::string Block::waits() const {
  constexpr std::pair<Waits, std::string_view> named[] = {
      {Waits::for_warp, "lanes of their warp"},
      {Waits::for_block, "all threads of the block"},
      {Waits::for_phase, "a phase of a barrier for copies"},
      {Waits::for_arrivals, "arrivals"},
  };
  std::string all;
  for (const auto& [what, name] : named)
    if (const std::size_t n = count(what, 0, threads_.size()); n != 0)
      all += fmt::format("{}{} wait for {}", all.empty() ? "" : ", ", n, name);
  return fmt::format("block {}: of {} threads {}", here_.block, threads_.size(), all);
}

/// Records a fault if there is one. The thread then does nothing more.
void Block::stop_if(Fault fault) {
  if (fault == nullptr) return;
  fault_ = fault;
  wait(Waits::for_turn);
}

void Block::check_is_cooperative() {
  if (!is_cooperative_) stop_if("a barrier for copies, or a wait for arrivals, outside a cooperative grid");
}

void Block::init_barrier(CopyBarrier* barrier, unsigned arrivals) {
  check_is_cooperative();
  stop_if(Pieces::init(barrier, arrivals));
}

void Block::begin_piece(const Piece& piece) {
  check_is_cooperative();
  Words& words = to_hand_in();
  static_assert(sizeof piece <= sizeof words);
  std::memcpy(words.data(), &piece, sizeof piece);
  const auto& all = exchange();
  const auto lane = static_cast<std::size_t>(here_.thread % warp_threads);
  Piece of_first;
  std::memcpy(&of_first, all[0].data(), sizeof of_first);
  if (of_first.to != piece.to || of_first.from != piece.from || of_first.bytes != piece.bytes ||
      of_first.filled != piece.filled)
    stop_if("lanes of a warp begin different pieces");
  if (lane != 0) return;
  if (piece.to < shared_.data() || piece.to + piece.bytes > shared_.data() + shared_.size())
    stop_if("a piece goes elsewhere than to the block's shared memory");
  stop_if(pieces_.begin(piece));
}

void Block::wait_for_phase(const CopyBarrier* barrier, unsigned parity) {
  check_is_cooperative();
  stop_if(Pieces::check(barrier));
  (void)wait_for_condition(Waits::for_phase, {barrier, nullptr, parity, false});
}

bool Block::wait_for_arrivals(const unsigned* counter, unsigned n) {
  check_is_cooperative();
  return wait_for_condition(Waits::for_arrivals, {nullptr, counter, n, false});
}

void Block::perhaps_pause() {
  constexpr unsigned rarity = 8;
  if (is_cooperative_ && (*order_)() % rarity == 0) wait(Waits::for_turn);
}

}  // namespace draftscope::engine::cuda::emulation
