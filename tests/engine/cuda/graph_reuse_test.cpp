// SPDX-License-Identifier: GPL-3.0-or-later
// One graph serves every pass of its form: masks, exits, positions and context change in device memory, and
// nothing is captured again. What a graph computes is, bit for bit, what its launches one by one compute.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "counted_captures.h"
#include "cuda_device.h"
#include "cuda_shapes.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t n_layers = 4;
constexpr std::int32_t context = 290;  // beyond one split of the keys
constexpr std::int32_t graph_cache_rows = 360;

/// Hidden states are only brought back by launches one by one.
constexpr std::int32_t one_by_one[] = {0};

class GraphReuse : public testing::Test {
 protected:
  GraphReuse() {
    shape_ = random_cuda_shape(random_);
    shape_.n_layers = n_layers;
    shape_.sliding_window = 0;
    shape_.vocab = 60;
    shape_.d_model = 48;
    shape_.d_ff = 72;
    shape_.head_dim = 32;
    shape_.tied_embeddings = false;  // or a token would be sure of itself
    checkpoint_ = random_checkpoint(shape_, DType::bf16, 9);
    graphs_ = backend_on_device(checkpoint_, {.cache_rows = graph_cache_rows, .device_trace = &captured_});
    eager_ = backend_on_device(checkpoint_, {.cache_rows = graph_cache_rows}, 3);
    const OwnedBatch prompt = chain(shape_, random_, context, 0);
    Batch rows = prompt.view();
    rows.wanted = {};
    Outputs unused;
    EXPECT_TRUE(graphs_->forward(rows, unused));
    EXPECT_TRUE(eager_->forward(rows, unused));
    EXPECT_EQ(captured_.all(), 0);  // a wide pass is no graph
  }

  /// `running` of the layers run, each at least one of its sublayers; or those below an exit.
  speculation::SublayerMask mask_of(std::int32_t running) {
    if (chance(random_, 0.3)) return speculation::SublayerMask::early_exit(n_layers, running);
    std::vector<std::int32_t> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random_);
    speculation::SublayerMask mask(n_layers);
    for (std::int32_t i = 0; i < n_layers; ++i) {
      const std::int32_t layer = order[static_cast<std::size_t>(i)];
      const std::int32_t skips = i < running ? pick(random_, 0, 2) : 3;
      if ((skips & 1) != 0) mask.skip_attention(layer);
      if ((skips & 2) != 0) mask.skip_mlp(layer);
    }
    return mask;
  }

  Random random_{77};
  speculation::ModelShape shape_;
  Checkpoint checkpoint_;
  CountedCaptures captured_;
  std::unique_ptr<Backend> graphs_;
  std::unique_ptr<Backend> eager_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void expect_same(const std::vector<TopToken>& found, const std::vector<TopToken>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].token, expected[i].token);
    EXPECT_EQ(found[i].logit, expected[i].logit);
    EXPECT_EQ(found[i].probability, expected[i].probability);
  }
}

TEST_F(GraphReuse, APassOfAKnownFormIsNeverCapturedAgainWhateverItsMaskPositionsAndContext) {
  int forms = 0;
  for (const std::int32_t max_rows : {1, 8, 16, 48})
    for (const std::int32_t running : {1, 3}) {
      ++forms;
      for (int pass = 0; pass < 4; ++pass) {
        SCOPED_TRACE(pass);
        const std::int32_t min_rows = max_rows == 1 ? 1 : max_rows == 8 ? 2 : max_rows - 7;
        const std::int32_t rows = pick(random_, min_rows, max_rows);
        const std::int32_t committed = pick(random_, 1, context);
        OwnedBatch batch = chance(random_, 0.5) ? tree(shape_, random_, rows, committed)
                                                : chain(shape_, random_, rows, committed);
        batch.mask = mask_of(running);
        batch.wanted.top_k = 1;
        Outputs found;
        Outputs expected;
        ASSERT_TRUE(graphs_->forward(batch.view(), found));
        Batch eager = batch.view();
        eager.wanted.hidden_after = one_by_one;
        ASSERT_TRUE(eager_->forward(eager, expected));
        EXPECT_TRUE(same_bits(found.logits, expected.logits));
        expect_same(found.top, expected.top);
        EXPECT_EQ(captured_.of("forward"), forms);
      }
    }
  EXPECT_EQ(captured_.all(), forms);
}

/// The same round by passes whose kernels are launched one by one.
ChainRoundOutputs by_passes(Backend& backend, const ChainRound& round) {
  ChainRoundOutputs outputs;
  Outputs passed;
  const auto forward = [&](Batch batch) {
    batch.wanted.head = true;
    batch.wanted.top_k = 1;
    batch.wanted.hidden_after = one_by_one;
    const auto done = backend.forward(batch, passed);
    EXPECT_TRUE(done) << done.error().message;
  };
  std::vector<Row> rows{{.token = round.root, .hidden = -1, .position = round.root_position}};
  for (std::int32_t step = 0; step < round.draft_length; ++step) {
    const std::int32_t position = round.root_position + step;
    forward({.rows = std::span(rows).last(1),
             .committed = position,
             .first_row = position,
             .mask = round.mask,
             .layers = round.layers});
    outputs.drafted.push_back(passed.top[0]);
    rows.push_back({.token = passed.top[0].token, .hidden = -1, .position = position + 1});
    if (passed.top[0].probability < static_cast<float>(round.threshold)) break;
  }
  forward({.rows = rows,
           .committed = round.root_position,
           .first_row = round.root_position,
           .layers = {0, n_layers}});
  outputs.verified = passed.top;
  return outputs;
}

TEST_F(GraphReuse, RoundsOfAKnownFormAreNeverCapturedAgainWhateverTheirMaskExitLengthAndThreshold) {
  std::int32_t stopped = 0;
  int forms = 0;
  for (const std::int32_t running : {1, 2}) {
    ++forms;
    for (int i = 0; i < 6; ++i) {
      SCOPED_TRACE(i);
      const speculation::SublayerMask mask = mask_of(running);
      const ChainRound round{.root = pick(random_, 0, shape_.vocab - 1),
                             .root_position = pick(random_, 1, context),
                             .draft_length = pick(random_, 1, 7),
                             .mask = &mask,
                             .layers = {0, mask.exit_layer()},
                             .threshold = chance(random_, 0.6) ? 0.12 : -1.0};
      ChainRoundOutputs found;
      const auto done = graphs_->chain_round(round, found);
      ASSERT_TRUE(done) << done.error().message;
      const ChainRoundOutputs expected = by_passes(*eager_, round);
      expect_same(found.drafted, expected.drafted);
      expect_same(found.verified, expected.verified);
      stopped += static_cast<std::int32_t>(found.drafted.size()) < round.draft_length ? 1 : 0;
      EXPECT_EQ(captured_.of("draft step"), forms);
      EXPECT_EQ(captured_.of("verification"), 1);  // all layers, up to eight rows
    }
  }
  EXPECT_GT(stopped, 0);
  EXPECT_EQ(captured_.all(), forms + 1);
}

}  // namespace
}  // namespace draftscope::engine::test
