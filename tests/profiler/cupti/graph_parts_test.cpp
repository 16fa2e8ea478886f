// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/graph_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace draftscope::profiler::cupti {
namespace {

TEST(GraphParts, NameANodeAfterTheInnermostScopeOfItsThread) {
  GraphParts parts;
  parts.enter("block", 2);
  parts.node_created(1);
  parts.enter("mlp", 2);
  parts.node_created(2);
  std::thread([&] { parts.node_created(3); }).join();
  GraphParts::leave();
  parts.node_created(4);
  GraphParts::leave();
  parts.node_created(5);
  EXPECT_EQ(parts.of_node(1)->op, "block");
  EXPECT_EQ(parts.of_node(2)->op, "mlp");
  EXPECT_EQ(parts.of_node(2)->layer, 2);
  EXPECT_EQ(parts.of_node(3), nullptr);
  EXPECT_EQ(parts.of_node(4), parts.of_node(1));
  EXPECT_EQ(parts.of_node(5), nullptr);
}

TEST(GraphParts, FollowClonesOfClones) {
  GraphParts parts;
  parts.enter("attention", 7);
  parts.node_created(1);
  GraphParts::leave();
  parts.node_cloned(2, 1);
  parts.node_cloned(3, 2);
  EXPECT_EQ(parts.of_node(3), parts.of_node(1));
}

TEST(GraphParts, ForgetWhatAnIdMeantBefore) {
  GraphParts parts;
  parts.enter("attention", 7);
  for (const std::uint64_t node : {1U, 2U}) parts.node_created(node);
  parts.executable_created(1);
  GraphParts::leave();
  parts.node_created(1);
  parts.node_cloned(2, 9);  // of a node that nobody named
  parts.executable_created(1);
  EXPECT_EQ(parts.of_node(1), nullptr);
  EXPECT_EQ(parts.of_node(2), nullptr);
  EXPECT_EQ(parts.of_executable(1), nullptr);
}

TEST(GraphParts, KeepApartWhatThreadsCaptureWhileOneReads) {
  GraphParts parts;
  constexpr std::uint64_t each = 1000;
  std::atomic<int> running = 3;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (std::int32_t layer = 0; layer < 3; ++layer)
    threads.emplace_back([&, layer] {
      for (std::uint64_t i = 0; i < each; ++i) {
        parts.enter("op", layer);
        parts.node_created(3 * i + static_cast<std::uint64_t>(layer));
        GraphParts::leave();
      }
      --running;
    });
  const auto is_right = [&](std::uint64_t node) {
    const GraphPart* const part = parts.of_node(node);
    return part == nullptr || part->layer == static_cast<std::int32_t>(node % 3);
  };
  while (running > 0)
    for (std::uint64_t node = 0; node < 3 * each; node += 17) EXPECT_TRUE(is_right(node)) << node;
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t node = 0; node < 3 * each; ++node) {
    EXPECT_NE(parts.of_node(node), nullptr);
    EXPECT_TRUE(is_right(node)) << node;
  }
}

}  // namespace
}  // namespace draftscope::profiler::cupti
