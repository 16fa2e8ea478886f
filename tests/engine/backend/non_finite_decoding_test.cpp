// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding ends with an error line, and without a token, where the target's logits form no distribution. If
// only a draft is damaged, the text is vanilla's. Both hold for every strategy in the catalogue.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "decode/shadow.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "every_strategy.h"
#include "next_token_layer.h"
#include "poison.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

const SamplingOptions greedy;
const SamplingOptions sampled{.temperature = 0.8, .top_k = 20, .top_p = 0.95};
const SamplingOptions coupled{.temperature = 0.8, .top_p = 0.95, .coupled = true};

/// Passes every call on, and replaces the logits of chosen passes by NaN, as a backend would report them.
class SpoiltBackend final : public Backend {
 public:
  using Choose = std::function<bool(const Batch&)>;
  SpoiltBackend(Backend& inner, Choose choose) : inner_(inner), choose_(std::move(choose)) {}
  void set_recorder(profiler::SpanRecorder* recorder) override { inner_.set_recorder(recorder); }
  const speculation::ModelShape& shape() const override { return inner_.shape(); }
  BackendDescription describe() const override { return inner_.describe(); }
  std::int32_t cache_rows() const override { return inner_.cache_rows(); }
  std::int32_t max_rows() const override { return inner_.max_rows(); }
  std::int32_t max_invariant_rows() const override { return inner_.max_invariant_rows(); }
  Result<void> prepare_draft_weights(speculation::WeightFormat format) override {
    return inner_.prepare_draft_weights(format);
  }
  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    return inner_.move_cache_rows(moves);
  }
  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    DRAFTSCOPE_TRY(inner_.forward(batch, outputs));
    if (!batch.wanted.head || !choose_(batch)) return {};
    ++spoilt;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    std::ranges::fill(outputs.logits, nan);
    for (TopToken& top : outputs.top) top = {0, -std::numeric_limits<float>::infinity(), nan};
    return {};
  }
  int spoilt = 0;

 private:
  Backend& inner_;
  Choose choose_;
};

/// Whether a pass does not decide the text: a draft step, a search, or heads on other states.
bool is_beside_the_text(const Batch& batch) {
  return batch.mask != nullptr || batch.layers.begin == batch.layers.end ||
         batch.first_row != batch.committed;
}

struct Heard final : DecodeListener {
  void on_first_token(std::int32_t token) override { tokens.push_back(token); }
  void on_round(const RoundReport& report) override {
    tokens.insert(tokens.end(), report.emitted.begin(), report.emitted.end());
  }
  std::vector<std::int32_t> tokens;
};

struct Decoded {
  std::vector<std::int32_t> tokens;  ///< reported tokens, whether or not decoding ended well
  std::string error;
};

class NonFiniteDecodingTest : public testing::TestWithParam<TestedBackend> {
 protected:
  NonFiniteDecodingTest() {
    speculation::ModelShape shape = GetParam().shape(random_);
    shape.tied_embeddings = false;
    shape.sliding_window = 0;
    shape.n_layers = 3;
    shape.vocab = 24;
    checkpoint_ = random_checkpoint(shape, GetParam().dtype, random_());
    make();
    for (int i = 0; i < 20; ++i) prompt_.push_back(pick(random_, 0, shape.vocab - 1));
  }

  void make() { backend_ = GetParam().make(checkpoint_, 2, context); }

  Decoded run(Backend& backend, const std::string& specification, const SamplingOptions& sampling) {
    const StrategyResources resources = with_next_token_layer(
        checkpoint_, [](const Checkpoint& layer) { return GetParam().make(layer, 1, context); },
        {.open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> {
          return std::shared_ptr<Backend>(GetParam().make(checkpoint_, 1, context));
        }});
    auto strategy = make_strategy(specification, backend.shape(), resources);
    EXPECT_TRUE(strategy) << strategy.error().message;
    if (!strategy) return {};
    SeededChooser chooser(5, 1);
    Heard heard;
    const auto decoded =
        decode(backend, *strategy->strategy,
               {.prompt = prompt_, .max_new_tokens = new_tokens, .sampling = sampling}, chooser, heard);
    return {heard.tokens, decoded ? "" : decoded.error().message};
  }

  static constexpr std::int32_t new_tokens = 14;
  static constexpr std::int32_t context = 160;
  Random random_{53};
  Checkpoint checkpoint_;
  std::unique_ptr<Backend> backend_;
  std::vector<std::int32_t> prompt_;
};

TEST_P(NonFiniteDecodingTest, EveryStrategyEndsWithALineAndWithoutAToken) {
  const EveryStrategy strategies(checkpoint_.shape, held_weights(*backend_));
  int trial = 0;
  for (const std::string& specification : strategies.specifications()) {
    // Each strategy gets another kind of bad logits, or a bad layer.
    checkpoint_ = random_checkpoint(checkpoint_.shape, GetParam().dtype, random_());
    const int way = trial++ % 5;
    std::string origin = "every layer's output is finite";
    if (way < 4)
      poison_head(checkpoint_, all_bad_logits[way], random_);
    else
      origin = "layer " + std::to_string(poison_layer(checkpoint_, random_)) + " is the first";
    make();
    for (const SamplingOptions& sampling : {greedy, sampled, coupled}) {
      SCOPED_TRACE(specification + " " + std::to_string(way));
      const Decoded decoded = run(*backend_, specification, sampling);
      // Infinity times a negative state is minus infinity, which masks the token.
      if (way < 4 && all_bad_logits[way] == BadLogits::inf && !decoded.tokens.empty()) continue;
      EXPECT_TRUE(decoded.tokens.empty());
      EXPECT_THAT(decoded.error, HasSubstr("logits of position 19 (prefill): "));
      EXPECT_THAT(decoded.error, HasSubstr("of 24 are not finite, first "));
      EXPECT_THAT(decoded.error, HasSubstr(origin));
      EXPECT_LT(decoded.error.size(), 300U);
    }
  }
}

/// A token whose embedding is NaN: requests that reach it fail, and others never notice.
TEST_P(NonFiniteDecodingTest, EveryStrategyEndsWhereVanillaDoes) {
  const EveryStrategy strategies(checkpoint_.shape, held_weights(*backend_));
  for (const SamplingOptions& sampling : {greedy, coupled}) {
    const std::vector<std::int32_t> clean = run(*backend_, "vanilla", sampling).tokens;
    ASSERT_EQ(clean.size(), static_cast<std::size_t>(new_tokens));
    // Choose the last token before the end that occurs for the first time.
    std::int32_t bad = -1;
    for (std::size_t i = 2; i + 1 < clean.size(); ++i)
      if (std::find(prompt_.begin(), prompt_.end(), clean[i]) == prompt_.end() &&
          std::find(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(i), clean[i]) ==
              clean.begin() + static_cast<std::ptrdiff_t>(i))
        bad = clean[i];
    if (bad < 0) continue;
    std::vector<std::byte> kept(checkpoint_.weights.embedding.bytes());
    std::copy_n(checkpoint_.weights.embedding.data, kept.size(), kept.begin());
    poison(checkpoint_.weights.embedding, bad, 0, Poison::nan);
    make();
    EXPECT_THAT(run(*backend_, "vanilla", sampling).error, HasSubstr("; the embedding is not finite"));
    const std::size_t known =
        static_cast<std::size_t>(std::find(clean.begin(), clean.end(), bad) - clean.begin()) + 1;
    for (const std::string& specification : strategies.specifications()) {
      SCOPED_TRACE(specification);
      const Decoded decoded = run(*backend_, specification, sampling);
      EXPECT_THAT(decoded.error, HasSubstr("(verification, row "));
      ASSERT_LE(decoded.tokens.size(), known);
      EXPECT_TRUE(std::equal(decoded.tokens.begin(), decoded.tokens.end(), clean.begin()));
    }
    std::copy_n(kept.begin(), kept.size(), const_cast<std::byte*>(checkpoint_.weights.embedding.data));
    make();
  }
}

TEST_P(NonFiniteDecodingTest, WhatSpoilsDraftsAndSearchesLeavesTheText) {
  const EveryStrategy strategies(checkpoint_.shape, held_weights(*backend_));
  int spoilt = 0;
  for (const SamplingOptions& sampling : {greedy, coupled}) {
    const std::vector<std::int32_t> vanilla = run(*backend_, "vanilla", sampling).tokens;
    for (const bool always : {true, false})
      for (const std::string& specification : strategies.specifications()) {
        SCOPED_TRACE(specification);
        SpoiltBackend backend(*backend_, [&](const Batch& batch) {
          return is_beside_the_text(batch) && (always || chance(random_, 0.3));
        });
        const Decoded decoded = run(backend, specification, sampling);
        EXPECT_EQ(decoded.error, "");
        EXPECT_EQ(decoded.tokens, vanilla);
        spoilt += backend.spoilt;
      }
  }
  EXPECT_GT(spoilt, 200);
}

TEST_P(NonFiniteDecodingTest, ShadowTokensEndWithALine) {
  ASSERT_EQ(run(*backend_, "vanilla", greedy).error, "");
  SpoiltBackend backend(*backend_, [](const Batch& batch) { return batch.layers.begin == batch.layers.end; });
  int visited = 0;
  const auto done = shadow_tokens(backend, prompt_, 4, [&](const traces::ShadowToken&) { ++visited; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "logits of position 3 (shadow token of layer 1): 24 of 24 are not finite, first nan at token 0, "
            "expected finite numbers");
  EXPECT_EQ(visited, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, NonFiniteDecodingTest, testing::Values(tested_backends().back()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
