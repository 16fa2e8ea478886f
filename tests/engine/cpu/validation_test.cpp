// SPDX-License-Identifier: GPL-3.0-or-later
// Errors name what was found and what was expected, and nothing is written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <functional>

#include "backends.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

speculation::ModelShape small_shape() {
  Random random(3);
  speculation::ModelShape shape = random_shape(random);
  shape.n_layers = 2;
  shape.d_model = 8;
  shape.vocab = 50;
  shape.sliding_window = 0;
  return shape;
}

class ValidationTest : public testing::Test {
 protected:
  void refuse(const std::function<void(OwnedBatch&)>& break_it, const std::string& message) {
    OwnedBatch batch = good_;
    break_it(batch);
    Outputs outputs;
    const auto done = backend_->forward(batch.view(), outputs);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr(message));
    EXPECT_TRUE(outputs.hidden.empty() && outputs.logits.empty() && outputs.top.empty());
  }
  Random random_{5};
  speculation::ModelShape shape_ = small_shape();
  Checkpoint checkpoint_ = random_checkpoint(shape_, DType::f32, 1);
  std::unique_ptr<Backend> backend_ = make_backend(checkpoint_, {.threads = 1, .cache_rows = 100});
  OwnedBatch good_ = chain(shape_, random_, 3, 4);
};

TEST_F(ValidationTest, EveryFieldOfABatchIsChecked) {
  refuse([](auto& b) { b.rows.clear(); }, "batch.rows has 0 rows, expected 1 to 100");
  refuse([](auto& b) { b.rows.resize(101, b.rows[0]); }, "batch.rows has 101 rows");
  refuse([](auto& b) { b.rows[1].token = 50; }, "batch.rows[1].token is 50, expected -1 to 49");
  refuse([](auto& b) { b.rows[1].token = -2; }, "batch.rows[1].token is -2");
  refuse([](auto& b) { b.rows[2].token = -1; }, "batch.rows[2].hidden is -1");
  refuse([](auto& b) { b.rows[2] = {-1, 1, 6}, b.hidden.resize(8); }, "batch.rows[2].hidden is 1");
  refuse([](auto& b) { b.hidden.resize(9); }, "batch.hidden has 9 values, expected a multiple of d_model 8");
  refuse([](auto& b) { b.rows[0].position = -1; }, "batch.rows[0].position is -1");
  refuse([](auto& b) { b.rows[0].position = 512; }, "batch.rows[0].position is 512, expected 0 to 511");
  refuse([](auto& b) { b.layers = {-1, 2}; }, "batch.layers is [-1, 2)");
  refuse([](auto& b) { b.layers = {0, 3}; }, "batch.layers is [0, 3), expected a range within [0, 2)");
  refuse([](auto& b) { b.layers = {2, 1}; }, "batch.layers is [2, 1)");
  refuse([](auto& b) { b.mask = speculation::SublayerMask(3); }, "batch.mask is for 3 layers, expected 2");
  refuse([](auto& b) { b.committed = -1; }, "batch.committed is -1");
  refuse([](auto& b) { b.committed = 101, b.first_row = 101; }, "batch.committed is 101");
  refuse([](auto& b) { b.first_row = 3; }, "batch.first_row is 3, expected at least batch.committed 4");
  refuse([](auto& b) { b.first_row = 98; }, "batch.first_row is 98 with 3 rows");
  refuse([](auto& b) { b.ancestors.resize(2); }, "batch.ancestors has 2 words, expected 3");
  refuse([](auto& b) { b.ancestors = {0, 8, 0}; }, "batch.ancestors of row 1 names a cache row beyond 6");
  refuse([](auto& b) { b.hidden_after = {3}; }, "batch.wanted.hidden_after[0] is 3, expected 0 to 2");
  refuse([](auto& b) { b.hidden_after = {1, 1}; }, "expected ascending boundaries");
  refuse([](auto& b) { b.wanted.head_from = 3; }, "batch.wanted.head_from is 3, expected a row, 0 to 2");
  refuse([](auto& b) { b.wanted.head_from = -1; }, "batch.wanted.head_from is -1");
  refuse([](auto& b) { b.wanted.head = false, b.wanted.logits = true; },
         "batch.wanted has logits without head, expected head with it");
  refuse([](auto& b) { b.wanted.head = false, b.wanted.logits = false, b.wanted.top_k = 1; },
         "batch.wanted has top_k without head, expected head with it");
  refuse([](auto& b) { b.wanted.top_k = 51; }, "batch.wanted.top_k is 51, expected 0 to 50");
}

TEST_F(ValidationTest, MovesOutsideTheCacheAreRefused) {
  const CacheMove outside[] = {{0, 1}, {2, 100}};
  const auto moved = backend_->move_cache_rows(outside);
  ASSERT_FALSE(moved);
  EXPECT_THAT(moved.error().message, HasSubstr("cache move 1 is 2 to 100, expected rows 0 to 99"));
}

TEST_F(ValidationTest, OptionsAndCheckpointsThatDoNotFitAreRefusedByName) {
  const auto message = [&](const Checkpoint& checkpoint, const CpuOptions& options) {
    const auto backend = make_cpu_backend(checkpoint, options);
    return backend ? std::string("made") : backend.error().message;
  };
  EXPECT_THAT(message(checkpoint_, {.kernels = "sse9"}), HasSubstr("kernels 'sse9' are not available"));
  EXPECT_THAT(message(checkpoint_, {.threads = -1}), HasSubstr("threads is -1"));
  EXPECT_THAT(message(checkpoint_, {.cache_rows = -1}), HasSubstr("cache_rows is -1"));
  Checkpoint broken = checkpoint_;
  broken.weights.layers[1].down = {};
  EXPECT_THAT(message(broken, {}), HasSubstr("layer 1 down is absent"));
  broken = checkpoint_;
  broken.weights.layers[0].q.rows += 1;
  EXPECT_THAT(message(broken, {}), HasSubstr("layer 0 q is ["));
  broken = checkpoint_;
  broken.weights.head.dtype = DType::bf16;
  EXPECT_THAT(message(broken, {}), HasSubstr("head is"));
  broken = checkpoint_;
  broken.weights.layers.pop_back();
  EXPECT_THAT(message(broken, {}), HasSubstr("the weights hold 1 layers, expected n_layers 2"));
  broken = checkpoint_;
  broken.shape.head_dim = 3;
  EXPECT_THAT(message(broken, {}), HasSubstr("head_dim is 3, expected an even number"));
}

}  // namespace
}  // namespace draftscope::engine::test
