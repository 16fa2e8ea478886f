// SPDX-License-Identifier: GPL-3.0-or-later
// A backend reports logits that form no distribution through the probabilities of its tokens, and no other
// logits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "poison.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

class NonFiniteTest : public testing::TestWithParam<TestedBackend> {
 protected:
  static constexpr std::int32_t context = 160;
  static std::unique_ptr<Backend> backend(const Checkpoint& checkpoint) {
    return GetParam().make(checkpoint, 2, context);
  }
  /// A model with several blocks and tiles of the vocabulary, and with an untied head.
  static Checkpoint model(Random& random) {
    speculation::ModelShape shape = GetParam().shape(random);
    shape.tied_embeddings = false;
    shape.vocab = pick(random, 300, 400);
    return random_checkpoint(shape, GetParam().dtype, random());
  }
};

/// Applies the final norm and the head to three states of positive values.
Outputs heads_of(Backend& backend) {
  const speculation::ModelShape& shape = backend.shape();
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  std::vector<float> states(3 * d_model);
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = 0.5F + static_cast<float>(i % 7) * 0.25F;
  const std::vector<Row> rows{{-1, 0, 0}, {-1, 1, 0}, {-1, 2, 0}};
  Outputs outputs;
  const auto done = backend.forward({.rows = rows,
                                     .hidden = states,
                                     .layers = {shape.n_layers, shape.n_layers},
                                     .wanted = {.head = true, .logits = true, .top_k = 3}},
                                    outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs;
}

TEST_P(NonFiniteTest, LogitsThatMakeNoDistributionHaveNoProbability) {
  Random random(23);
  for (const BadLogits kind : all_bad_logits) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Checkpoint checkpoint = model(random);
    EXPECT_TRUE(std::ranges::all_of(heads_of(*backend(checkpoint)).top, has_distribution));
    poison_head(checkpoint, kind, random);
    const Outputs outputs = heads_of(*backend(checkpoint));
    ASSERT_EQ(outputs.top.size(), 9U);
    for (const TopToken& top : outputs.top) {
      EXPECT_FALSE(has_distribution(top)) << top.probability;
      EXPECT_GE(top.token, 0);
      EXPECT_LT(top.token, checkpoint.shape.vocab);
    }
  }
}

TEST_P(NonFiniteTest, MaskedTokensLeaveTheOthersTheirDistribution) {
  Random random(29);
  for (int round = 0; round < 3; ++round) {
    const Checkpoint checkpoint = model(random);
    const std::int32_t vocab = checkpoint.shape.vocab;
    // Mask whole blocks of tokens and single ones; in the first round mask all but two.
    for (std::int32_t token = 0; token < vocab; ++token)
      if (round == 0 ? token != 7 && token != vocab - 1 : token < 140 || chance(random, 0.5))
        poison(checkpoint.weights.head, token, 0, Poison::minus_inf);
    const Outputs outputs = heads_of(*backend(checkpoint));
    for (std::size_t row = 0; row < 3; ++row) {
      const std::span<const float> logits =
          std::span(outputs.logits)
              .subspan(row * static_cast<std::size_t>(vocab), static_cast<std::size_t>(vocab));
      const auto best = std::ranges::max_element(logits);
      double sum = 0.0;
      for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - static_cast<double>(*best));
      const std::span<const TopToken> top = std::span(outputs.top).subspan(row * 3, 3);
      EXPECT_EQ(top[0].token, best - logits.begin());
      EXPECT_NEAR(static_cast<double>(top[0].probability), 1.0 / sum, 1e-4);
      EXPECT_NE(top[1].token, top[0].token);
      EXPECT_NE(top[2].token, top[1].token);
      EXPECT_EQ(top[2].probability > 0.0F, round != 0);
    }
  }
}

TEST_P(NonFiniteTest, AWeightThatIsNotFiniteReachesTheLogits) {
  Random random(31);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const Checkpoint checkpoint = model(random);
    const std::int32_t layer = poison_layer(checkpoint, random);
    const auto tested = backend(checkpoint);
    OwnedBatch batch = chain(checkpoint.shape, random, 5, 0);
    batch.wanted.top_k = 1;
    Outputs outputs;
    ASSERT_TRUE(tested->forward(batch.view(), outputs));
    EXPECT_FALSE(has_distribution(outputs.top[4]));
    EXPECT_TRUE(std::ranges::any_of(outputs.logits, [](float logit) { return !std::isfinite(logit); }));
    const auto weight = tested->non_finite_weight(layer);
    EXPECT_TRUE(!weight || weight->starts_with("model.layers.")) << *weight;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, NonFiniteTest, testing::ValuesIn(tested_backends()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
