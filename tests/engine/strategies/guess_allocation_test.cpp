// SPDX-License-Identifier: GPL-3.0-or-later
// Guessing allocates nothing once a text is under way: every operator new of this program is counted.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "followed.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace draftscope::engine {
namespace {

/// Counts what a strategy allocates in rounds from `from` on.
class Counting final : public Strategy {
 public:
  Counting(Strategy& strategy, std::int32_t from) : strategy_(strategy), from_(from) {}
  void begin_request(const RequestView& request) override { strategy_.begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    counts_ = round.index >= from_;
    const std::int64_t before = allocations;
    const RoundPlan plan = strategy_.plan(round);
    if (counts_) allocated += allocations - before;
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    const std::int64_t before = allocations;
    strategy_.observe(outcome, log);
    if (counts_) allocated += allocations - before;
    rounds += counts_ ? 1 : 0;
  }

  std::int64_t allocated = 0;
  std::int64_t rounds = 0;

 private:
  Strategy& strategy_;
  std::int32_t from_;
  bool counts_ = false;
};

TEST(Guessing, AllocatesNothingOnceUnderWay) {
  const ToyBackend::Options options{.vocab = 5, .n_layers = 2, .cache_rows = 600, .max_rows = 64};
  Random random(40);
  const Tokens prompt = random_text(random, 100, options.vocab);
  for (const char* specification :
       {"prompt-lookup", "prompt-lookup:match=latest,reading=transformers", "prompt-lookup:match=longest",
        "jacobi:block=7", "jacobi:block=7,rule=published", "lookahead", "lookahead:pool-from-prompt=yes"}) {
    ToyBackend backend(options);
    const auto made = make_strategy(specification, backend.shape());
    ASSERT_TRUE(made) << made.error().message;
    Counting counting(*made->strategy, 30);
    SeededChooser chooser(1, 1);
    DecodeListener nobody;
    ASSERT_TRUE(decode(backend, counting, {.prompt = prompt, .max_new_tokens = 400}, chooser, nobody));
    EXPECT_GT(counting.rounds, 50) << specification;
    EXPECT_EQ(counting.allocated, 0) << specification;
  }
}

}  // namespace
}  // namespace draftscope::engine
