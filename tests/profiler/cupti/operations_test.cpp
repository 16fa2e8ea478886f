// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/operations.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace draftscope::profiler::cupti {
namespace {

using traces::Phase;

TEST(Operations, HaveOneNumberWhereTheyAreEqualAndElseTheirOwn) {
  Operations operations;
  const auto number = [&](std::string_view op, std::int32_t layer, std::optional<Phase> phase = {}) {
    const std::uint64_t entered = operations.enter(op, layer, phase);
    Operations::leave();
    return entered;
  };
  const std::uint64_t attention = number("attention", 2);
  const std::uint64_t drafting = number("attention", 2, Phase::draft);
  EXPECT_EQ(number("attention", 2), attention);
  EXPECT_EQ(number("attention", 2, Phase::draft), drafting);
  EXPECT_EQ((std::set{attention, drafting, number("attention", 3), number("mlp", 2)}).size(), 4U);
  EXPECT_EQ(operations.of(attention)->name, "attention");
  EXPECT_EQ(operations.of(attention)->layer, 2);
  EXPECT_EQ(operations.of(attention)->phase, std::nullopt);
  EXPECT_EQ(operations.of(drafting)->phase, Phase::draft);
  EXPECT_EQ(operations.of(0), nullptr);
  EXPECT_EQ(operations.of(5), nullptr);
}

TEST(Operations, HaveThePhaseOfTheScopeAroundThem) {
  Operations operations;
  const auto phase = [&](std::uint64_t number) { return operations.of(number)->phase; };
  operations.enter("verification", -1, Phase::verify);
  operations.enter("layer", 2);
  EXPECT_EQ(phase(operations.enter("attention", 2)), Phase::verify);
  Operations::leave();
  EXPECT_EQ(phase(operations.enter("sampling", -1, Phase::accept)), Phase::accept);
  Operations::leave();
  std::thread([&] {
    EXPECT_EQ(phase(operations.enter("attention", 2)), std::nullopt);
    Operations::leave();
  }).join();
  Operations::leave();
  EXPECT_EQ(phase(operations.enter("head", -1)), Phase::verify);
  Operations::leave();
  Operations::leave();
  EXPECT_EQ(phase(operations.enter("head", -1)), std::nullopt);
  Operations::leave();
}

TEST(Operations, KeepApartWhatThreadsEnterWhileOneReads) {
  Operations operations;
  constexpr std::int32_t each = 1000;
  std::atomic<int> running = 3;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (std::int32_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (std::int32_t i = 0; i < each; ++i) {
        const std::uint64_t number = operations.enter(std::to_string(i), i + thread);
        Operations::leave();
        EXPECT_EQ(operations.of(number)->layer, i + thread);
      }
      --running;
    });
  while (running > 0)
    for (std::uint64_t number = 1; const Operation* const operation = operations.of(number); number += 17) {
      const std::int32_t thread = operation->layer - std::stoi(operation->name);
      EXPECT_TRUE(thread >= 0 && thread < 3) << operation->name;
    }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(operations.of(3 * each), nullptr);
  EXPECT_EQ(operations.of(3 * each + 1), nullptr);
}

}  // namespace
}  // namespace draftscope::profiler::cupti
