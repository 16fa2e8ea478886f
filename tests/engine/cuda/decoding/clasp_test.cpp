// SPDX-License-Identifier: GPL-3.0-or-later
// CLaSp on the device at the ends of its range: M = 0 skips nothing, M = L leaves the embedding and the head
// (methods: g(L, L) = h_0). The search, its passes and the drafts are the loop's, the text vanilla's.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda_shapes.h"
#include "step_by_step.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

struct HeardMasks : DecodeListener {
  std::vector<traces::LayerSet> sets;
  std::vector<std::int32_t> drafts;
  std::int32_t accepted = 0;
  void on_round(const RoundReport& report) override {
    accepted += report.round.accepted;
    if (report.round.drafted > 0) sets.push_back(report.layer_set);
    for (const traces::DraftToken& token : report.draft_tokens) drafts.push_back(token.token);
  }
};

TEST(ClaspOnTheDevice, SkipsFromNoLayerToAllOfThem) {
  Random random(71);
  for (const std::int32_t kept : {0, 1, 3}) {  // layers that run, of three
    SCOPED_TRACE(kept);
    const TestedBackend tested = tested_backends().at(static_cast<std::size_t>(kept % 2));
    speculation::ModelShape shape = tested.shape(random);
    shape.sliding_window = 0;
    shape.n_layers = 3;
    const Checkpoint checkpoint = random_checkpoint(shape, tested.dtype, random());
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 20)));
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    const DecodeRequest request{.prompt = prompt, .max_new_tokens = 16};
    const auto text = [&](Backend& backend, const std::string& specification, HeardMasks& heard) {
      auto strategy = make_strategy(specification, shape);
      EXPECT_TRUE(strategy) << strategy.error().message;
      SeededChooser chooser(1, 0);
      auto decoded = decode(backend, *strategy->strategy, request, chooser, heard);
      EXPECT_TRUE(decoded) << decoded.error().message;
      return decoded ? decoded->tokens : std::vector<std::int32_t>();
    };
    const auto alone = tested.make(checkpoint, 2, 80);
    StepByStep led(tested.make(checkpoint, 2, 80));
    HeardMasks nothing;
    HeardMasks by_itself;
    HeardMasks by_loop;
    const auto vanilla = text(led, "vanilla", nothing);
    const auto clasp = fmt::format("clasp:skip={},interval=2,threshold=0,gamma=3", shape.n_layers - kept);
    EXPECT_EQ(text(*alone, clasp, by_itself), vanilla);
    EXPECT_EQ(text(led, clasp, by_loop), vanilla);
    EXPECT_EQ(by_itself.drafts, by_loop.drafts);
    ASSERT_FALSE(by_itself.sets.empty());
    ASSERT_EQ(by_itself.sets.size(), by_loop.sets.size());
    for (std::size_t i = 0; i < by_itself.sets.size(); ++i) {
      EXPECT_EQ(by_itself.sets[i].skipped, by_loop.sets[i].skipped);
      EXPECT_EQ(by_itself.sets[i].exit_layer, by_loop.sets[i].exit_layer);
      if (kept == 0) {
        EXPECT_EQ(by_itself.sets[i].exit_layer, 0);
      }
    }
    // Nothing skipped drafts what the target says: every draft token is right.
    if (kept == shape.n_layers) {
      EXPECT_EQ(static_cast<std::size_t>(by_itself.accepted), by_itself.drafts.size());
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
