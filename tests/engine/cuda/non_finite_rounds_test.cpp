// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds that the device runs by itself. A draft step whose logits form no distribution ends the draft; such
// a verified row is reported, and no request continues after it.

#include <draftscope/engine/decode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cuda_device.h"
#include "poison.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

const std::array<SamplingOptions, 3> samplings{
    {{}, {.temperature = 0.9, .top_k = 20, .top_p = 0.9}, {.temperature = 0.9, .coupled = true}}};

class NonFiniteRounds : public testing::Test {
 protected:
  NonFiniteRounds() : checkpoint_(model()) { prompt_.assign({3, 1, 4, 1, 5, 9, 2, 6}); }

  static Checkpoint model() {
    speculation::ModelShape shape;
    shape.name = "small";
    shape.n_layers = 2;
    shape.d_model = 32;
    shape.d_ff = 48;
    shape.n_heads = shape.n_kv_heads = 1;
    shape.head_dim = 32;
    shape.vocab = 40;
    shape.max_positions = 128;
    return random_checkpoint(shape, DType::bf16, 61);
  }

  /// The round after the prompt, whose last token is its root, on a new device.
  ChainRoundOutputs round(const SamplingOptions& sampling) {
    const auto backend = backend_on_device(checkpoint_, {.cache_rows = 64});
    OwnedBatch context;
    for (std::size_t i = 0; i + 1 < prompt_.size(); ++i)
      context.rows.push_back({prompt_[i], -1, static_cast<std::int32_t>(i)});
    context.layers = {0, 2};
    Outputs unused;
    EXPECT_TRUE(backend->forward(context.view(), unused));
    const auto exit = speculation::SublayerMask::early_exit(2, 1);
    ChainRoundOutputs outputs;
    const auto done = backend->chain_round({.root = prompt_.back(),
                                            .root_position = static_cast<std::int32_t>(prompt_.size()) - 1,
                                            .draft_length = 4,
                                            .mask = &exit,
                                            .layers = {0, 1},
                                            .sampling = &sampling,
                                            .key = {7, 1}},
                                           outputs);
    EXPECT_TRUE(done) << done.error().message;
    return outputs;
  }

  void poison_embedding(std::int32_t token) { poison(checkpoint_.weights.embedding, token, 0, Poison::nan); }

  Checkpoint checkpoint_;
  std::vector<std::int32_t> prompt_;
};

TEST_F(NonFiniteRounds, EndTheDraftBeforeTheStepThatHasNoDistribution) {
  for (const SamplingOptions& sampling : samplings) {
    checkpoint_ = model();
    const ChainRoundOutputs clean = round(sampling);
    ASSERT_EQ(clean.drafted.size(), 4U);
    const auto is_in_prompt = [&](const TopToken& top) {
      return std::find(prompt_.begin(), prompt_.end(), top.token) != prompt_.end();
    };
    const auto chosen = std::find_if_not(clean.drafted.begin(), clean.drafted.end(), is_in_prompt);
    ASSERT_NE(chosen, clean.drafted.end());
    const std::int32_t bad = chosen->token;
    const auto first = std::find_if(clean.drafted.begin(), clean.drafted.end(),
                                    [&](const TopToken& top) { return top.token == bad; });
    poison_embedding(bad);
    const ChainRoundOutputs found = round(sampling);
    ASSERT_EQ(static_cast<std::ptrdiff_t>(found.drafted.size()), first - clean.drafted.begin() + 1);
    for (std::size_t i = 0; i < found.drafted.size(); ++i)
      EXPECT_EQ(found.drafted[i].token, clean.drafted[i].token);
    ASSERT_EQ(found.verified.size(), found.drafted.size() + 1);
    EXPECT_FALSE(has_distribution(found.verified.back()));
  }
}

TEST_F(NonFiniteRounds, DraftNothingFromARootThatHasNoDistribution) {
  poison_embedding(prompt_.back());
  for (const SamplingOptions& sampling : samplings) {
    const ChainRoundOutputs found = round(sampling);
    EXPECT_TRUE(found.drafted.empty());
    ASSERT_EQ(found.verified.size(), 1U);
    EXPECT_FALSE(has_distribution(found.verified[0]));
    EXPECT_GE(found.verified[0].token, 0);
    EXPECT_LT(found.verified[0].token, checkpoint_.shape.vocab);
  }
}

TEST_F(NonFiniteRounds, EndTheRequestWithALine) {
  for (const SamplingOptions& sampling : samplings)
    for (const char* specification :
         {"vanilla", "layerskip:exit=1,gamma=3", "mix:mask=exit,exit=1,shape=tree,gamma=2"}) {
      SCOPED_TRACE(specification);
      checkpoint_ = model();
      std::vector<std::int32_t> heard;
      const auto run = [&] {
        struct Tokens final : DecodeListener {
          explicit Tokens(std::vector<std::int32_t>& all) : tokens(all) {}
          void on_first_token(std::int32_t token) override { tokens.push_back(token); }
          void on_round(const RoundReport& report) override {
            tokens.insert(tokens.end(), report.emitted.begin(), report.emitted.end());
          }
          std::vector<std::int32_t>& tokens;
        };
        heard.clear();
        Tokens listener(heard);
        const auto backend = backend_on_device(checkpoint_, {.cache_rows = 64});
        auto strategy = make_strategy(specification, checkpoint_.shape);
        EXPECT_TRUE(strategy) << strategy.error().message;
        SeededChooser chooser(7, 1);
        return decode(*backend, *strategy->strategy,
                      {.prompt = prompt_, .max_new_tokens = 10, .sampling = sampling}, chooser, listener);
      };
      const auto clean = run();
      ASSERT_TRUE(clean) << clean.error().message;
      // Choose a token that first appears third or later in the text: only as a later input can its bad
      // embedding have an effect.
      const auto bad =
          std::find_if(clean->tokens.begin() + 2, clean->tokens.end() - 1, [&](std::int32_t token) {
            return std::count(prompt_.begin(), prompt_.end(), token) == 0 &&
                   std::find(clean->tokens.begin(), clean->tokens.begin() + 2, token) ==
                       clean->tokens.begin() + 2;
          });
      ASSERT_NE(bad, clean->tokens.end() - 1);
      poison_embedding(*bad);
      const auto decoded = run();
      ASSERT_FALSE(decoded);
      EXPECT_THAT(decoded.error().message, HasSubstr("(verification, row "));
      EXPECT_THAT(decoded.error().message, HasSubstr("expected finite numbers"));
      ASSERT_LE(heard.size(), clean->tokens.size());
      EXPECT_TRUE(std::equal(heard.begin(), heard.end(), clean->tokens.begin()));
    }
}

}  // namespace
}  // namespace draftscope::engine::test
