// SPDX-License-Identifier: GPL-3.0-or-later
// CLaSp on the device at the ends of its range: M = 0 skips nothing, M = L leaves the embedding and the head
// (methods: g(L, L) = h_0). The search, its passes and the drafts are the same as in the loop, the text
// equals vanilla's.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include "cuda_shapes.h"
#include "random_decoding.h"
#include "step_by_step.h"

namespace draftscope::engine::test {
namespace {

TEST(ClaspOnTheDevice, SkipsFromNoLayerToAllOfThem) {
  Random random(71);
  for (const std::int32_t kept : {0, 1, 3}) {  // Number of layers that run, of three.
    SCOPED_TRACE(kept);
    const RandomDecoding decoding(random, kept, 300, 20, 3);
    const DecodeRequest request{.prompt = decoding.prompt, .max_new_tokens = 16};
    const auto alone = decoding.make(2, 80);
    StepByStep led(decoding.make(2, 80));
    HeardRounds by_itself;
    HeardRounds by_loop;
    const auto vanilla = text_under(led, "vanilla", request);
    const auto clasp = fmt::format("clasp:skip={},interval=2,threshold=0,gamma=3", 3 - kept);
    EXPECT_EQ(text_under(*alone, clasp, request, by_itself), vanilla);
    EXPECT_EQ(text_under(led, clasp, request, by_loop), vanilla);
    expect_same_rounds(by_itself, by_loop);
    ASSERT_FALSE(by_itself.sets.empty());
    ASSERT_EQ(by_itself.sets.size(), by_loop.sets.size());
    for (std::size_t i = 0; i < by_itself.sets.size(); ++i) {
      EXPECT_EQ(by_itself.sets[i].skipped, by_loop.sets[i].skipped);
      EXPECT_EQ(by_itself.sets[i].exit_layer, by_loop.sets[i].exit_layer);
      if (kept == 0) {
        EXPECT_EQ(by_itself.sets[i].exit_layer, 0);
      }
    }
    // A draft that skips nothing equals the target's text: every draft token is right.
    if (kept == 3) {
      EXPECT_EQ(by_itself.accepted, by_itself.drafted);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
