// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes are those of published config.json files; sizes and costs stand in the papers or in model cards.

#include <gtest/gtest.h>

#include <limits>

#include "prices/closed_forms_cost.h"

namespace draftscope::simulator {
namespace {

constexpr double no_cost = std::numeric_limits<double>::quiet_NaN();

constexpr WeightShape llama_2_7b{.n_layers = 32,
                                 .d_model = 4096,
                                 .n_heads = 32,
                                 .n_kv_heads = 32,
                                 .head_dim = 128,
                                 .d_ff = 11008,
                                 .vocab = 32000};
constexpr WeightShape llama_2_13b{.n_layers = 40,
                                  .d_model = 5120,
                                  .n_heads = 40,
                                  .n_kv_heads = 40,
                                  .head_dim = 128,
                                  .d_ff = 13824,
                                  .vocab = 32000};
constexpr WeightShape llama_2_70b{.n_layers = 80,
                                  .d_model = 8192,
                                  .n_heads = 64,
                                  .n_kv_heads = 8,
                                  .head_dim = 128,
                                  .d_ff = 28672,
                                  .vocab = 32000};
constexpr WeightShape llama_3_8b{.n_layers = 32,
                                 .d_model = 4096,
                                 .n_heads = 32,
                                 .n_kv_heads = 8,
                                 .head_dim = 128,
                                 .d_ff = 14336,
                                 .vocab = 128256};
constexpr WeightShape llama_3_2_1b{.n_layers = 16,
                                   .d_model = 2048,
                                   .n_heads = 32,
                                   .n_kv_heads = 8,
                                   .head_dim = 64,
                                   .d_ff = 8192,
                                   .vocab = 128256};

TEST(DraftCostByBytes, CountsEveryParameterOfAModel) {
  const WeightBytes bytes = *weight_bytes(llama_2_7b);
  const double embedding = 32000.0 * 4096.0 * 2.0;
  EXPECT_EQ((bytes.n_layers * bytes.layer() + bytes.head + embedding) / 2.0, 6738415616.0)
      << "its model card";
  EXPECT_NEAR(bytes.layer() / 1e6, 404.8, 0.05);
  EXPECT_NEAR(bytes.head / 1e6, 262.1, 0.1);
  EXPECT_NEAR(bytes.mlp / bytes.attention, 2.0, 0.02);
  const WeightBytes grouped = *weight_bytes(llama_2_70b);
  EXPECT_NEAR(grouped.mlp / grouped.attention, 4.7, 0.05);
}

TEST(DraftCostByBytes, HeadsAreWorthManyLayersOfSmallModels) {
  EXPECT_NEAR(weight_bytes(llama_2_7b)->head_in_layers(), 0.65, 0.005);
  EXPECT_NEAR(weight_bytes(llama_3_8b)->head_in_layers(), 2.41, 0.005);
  EXPECT_NEAR(weight_bytes(llama_3_2_1b)->head_in_layers(), 4.32, 0.005);
}

TEST(DraftCostByBytes, AddsTheBiasWhereThereIsOne) {
  WeightShape shape = llama_3_8b;
  const double without = weight_bytes(shape)->attention;
  shape.qkv_bias = true;
  EXPECT_EQ(weight_bytes(shape)->attention - without, (4096 + 2 * 1024) * 2.0);
}

TEST(DraftCostByBytes, GivesDraftAndVerifysPublishedSkipSetsTheirBytes) {
  // Skipped: 24 attention and 10 MLP sublayers of 40 (13B), 47 and 37 of 80 (70B).
  EXPECT_NEAR(*draft_cost_by_bytes({.attention = 16, .mlp = 30}, *weight_bytes(llama_2_13b)), 0.639, 5e-4);
  EXPECT_NEAR(*draft_cost_by_layers({.attention = 16, .mlp = 30}, 40), 0.575, 1e-12);
  EXPECT_NEAR(*draft_cost_by_bytes({.attention = 33, .mlp = 43}, *weight_bytes(llama_2_70b)), 0.517, 5e-4);
  EXPECT_NEAR(*draft_cost_by_layers({.attention = 33, .mlp = 43}, 80), 0.475, 1e-12);
}

TEST(DraftCostByBytes, AnEarlyExitPaysItsHead) {
  EXPECT_NEAR(*draft_cost_by_bytes({3, 3}, *weight_bytes(llama_3_2_1b)), 0.360, 5e-4);
  EXPECT_NEAR(*draft_cost_by_bytes({3, 3}, *weight_bytes(llama_3_8b)), 0.157, 5e-4);
}

TEST(DraftCostByBytes, IsCostByLayersWhereTheHeadIsNothingAndSublayersAreEqual) {
  const WeightBytes equal{.n_layers = 24, .attention = 1e6, .mlp = 1e6};
  for (int attention = 0; attention <= 24; ++attention)
    for (int mlp = 0; mlp <= 24; ++mlp) {
      const KeptSublayers kept{static_cast<double>(attention), static_cast<double>(mlp)};
      EXPECT_NEAR(*draft_cost_by_bytes(kept, equal), *draft_cost_by_layers(kept, 24), 1e-12);
    }
  // An exit keeps as much attention as MLP, so their sizes don't matter; the head does.
  WeightBytes bytes = *weight_bytes(llama_2_7b);
  const double with_head = *draft_cost_by_bytes({8, 8}, bytes);
  EXPECT_NEAR(with_head, (8 + bytes.head_in_layers()) / (32 + bytes.head_in_layers()), 1e-12);
  bytes.head = 0.0;
  EXPECT_NEAR(*draft_cost_by_bytes({8, 8}, bytes), 0.25, 1e-12);
  EXPECT_GT(with_head, 0.25);
}

TEST(DraftCost, IsOneWhereNothingIsSkippedAndNoneWhereAllIs) {
  const WeightBytes bytes = *weight_bytes(llama_3_2_1b);
  EXPECT_EQ(*draft_cost_by_layers({16, 16}, 16), 1.0);
  EXPECT_DOUBLE_EQ(*draft_cost_by_bytes({16, 16}, bytes), 1.0);
  EXPECT_EQ(*draft_cost_by_layers({0, 0}, 16), 0.0);
  EXPECT_GT(*draft_cost_by_bytes({0, 0}, bytes), 0.0) << "the head stays";
  EXPECT_EQ(*draft_cost_by_time(0.0, 5.0), 0.0);
  EXPECT_EQ(*draft_cost_by_time(2.0, 8.0), 0.25);
}

TEST(DraftCost, RefusesWhatIsOutsideItsDomain) {
  const WeightBytes bytes = *weight_bytes(llama_3_2_1b);
  for (const KeptSublayers kept : {KeptSublayers{-1, 0}, KeptSublayers{0, 17}, KeptSublayers{no_cost, 0}}) {
    EXPECT_FALSE(draft_cost_by_layers(kept, 16));
    EXPECT_FALSE(draft_cost_by_bytes(kept, bytes));
  }
  EXPECT_FALSE(draft_cost_by_layers({}, 0));
  EXPECT_FALSE(draft_cost_by_bytes({}, {}));
  EXPECT_FALSE(draft_cost_by_bytes({}, {.n_layers = 4})) << "layers without bytes";
  EXPECT_FALSE(draft_cost_by_bytes({}, {.n_layers = 4, .attention = 1, .mlp = 1, .head = no_cost}));
  EXPECT_FALSE(draft_cost_by_time(-1.0, 1.0));
  EXPECT_FALSE(draft_cost_by_time(1.0, 0.0));
  EXPECT_FALSE(draft_cost_by_time(no_cost, 1.0));
  WeightShape shape = llama_2_7b;
  shape.d_ff = 0;
  EXPECT_EQ(weight_bytes(shape).error().message, "d_ff: found 0, expected 1 to 16777216");
  shape = llama_2_7b;
  shape.bytes_per_weight = 0.0;
  EXPECT_FALSE(weight_bytes(shape));
}

}  // namespace
}  // namespace draftscope::simulator
