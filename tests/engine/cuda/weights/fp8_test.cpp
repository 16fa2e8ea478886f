// SPDX-License-Identifier: GPL-3.0-or-later
// fp8 weights: quantised as by a search through all e4m3 values, computed as with those values in fp64, and
// with the same bits for any number of rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "checkpoint/element_bits.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "e4m3.h"
#include "oracle.h"

namespace draftscope::engine::test {
namespace {

std::unique_ptr<Backend> fp8_backend(const Checkpoint& checkpoint, std::int32_t multiprocessors) {
  return backend_on_device(checkpoint, {.cache_rows = 120, .weights = speculation::WeightFormat::fp8},
                           multiprocessors);
}

float rounded_to_e4m3(float x, const std::vector<float>& values) {
  return std::copysign(values[nearest_e4m3(x, values) & 0x7fU], x);
}

/// A model's weights in fp32, with the layers' matrices as represented by e4m3 with one scale per row.
class Dequantised {
 public:
  explicit Dequantised(const Checkpoint& original) : checkpoint_(original) {
    Weights& weights = checkpoint_.weights;
    const bool tied = weights.head.data == weights.embedding.data;
    widen(weights.embedding, false);
    if (tied)
      weights.head = weights.embedding;
    else
      widen(weights.head, false);
    widen(weights.final_norm, false);
    for (LayerWeights& layer : weights.layers) {
      for (TensorView* matrix : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
        widen(*matrix, true);
      for (TensorView* vector :
           {&layer.attention_norm, &layer.mlp_norm, &layer.q_bias, &layer.k_bias, &layer.v_bias,
            &layer.o_bias, &layer.gate_bias, &layer.up_bias, &layer.down_bias})
        if (vector->present()) widen(*vector, false);
    }
  }
  [[nodiscard]] const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  void widen(TensorView& tensor, bool quantise) {
    const auto columns = static_cast<std::size_t>(tensor.columns);
    auto values = std::make_unique<std::vector<float>>(static_cast<std::size_t>(tensor.rows) * columns);
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
      float* out = values->data() + static_cast<std::size_t>(row) * columns;
      copy_row(tensor, row, out);
      if (!quantise) continue;
      float largest = 0.0F;
      for (std::size_t i = 0; i < columns; ++i) largest = std::max(largest, std::abs(out[i]));
      const float scale = largest > 0.0F ? largest / e4m3_.back() : 1.0F;
      for (std::size_t i = 0; i < columns; ++i) out[i] = rounded_to_e4m3(out[i] / scale, e4m3_) * scale;
    }
    tensor = {reinterpret_cast<const std::byte*>(values->data()), DType::f32, tensor.rows, tensor.columns};
    blocks_.push_back(std::move(values));
  }

  Checkpoint checkpoint_;
  std::vector<float> e4m3_ = e4m3_values();
  std::vector<std::unique_ptr<std::vector<float>>> blocks_;
};

TEST(Fp8Weights, ComputeWhatTheirValuesSay) {
  Random random(41);
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    const speculation::ModelShape shape = random_fp8_shape(random, 10, 15);
    const Checkpoint checkpoint =
        random_checkpoint(shape, round % 2 == 0 ? DType::bf16 : DType::f16, random());
    const Dequantised dequantised(checkpoint);
    const auto backend = fp8_backend(checkpoint, pick(random, 1, 3));
    Oracle oracle(dequantised.checkpoint(), 120);
    Outputs outputs;
    // More than 64 rows use wide products.
    for (OwnedBatch batch :
         {chain(shape, random, pick(random, 65, 90), 0), chain(shape, random, pick(random, 1, 20), 64)}) {
      batch.wanted.head_from = static_cast<std::int32_t>(batch.rows.size()) - 1;
      const auto done = backend->forward(batch.view(), outputs);
      ASSERT_TRUE(done) << done.error().message;
      const Eigen::VectorXd expected = oracle.forward(batch.view()).logits.at(0);
      const double scale = std::max(expected.cwiseAbs().maxCoeff(), 1e-3);
      for (Eigen::Index i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(static_cast<double>(outputs.logits[static_cast<std::size_t>(i)]), expected[i],
                    4e-2 * scale);
    }
  }
}

TEST(Fp8Weights, GiveARowTheSameBitsAloneAndInABatch) {
  Random random(43);
  for (int round = 0; round < 4; ++round) {
    const speculation::ModelShape shape = random_fp8_shape(random, 10, 15);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto wide = fp8_backend(checkpoint, 1);
    const auto narrow = fp8_backend(checkpoint, 3);
    const OwnedBatch all = chain(shape, random, pick(random, 2, 40), 0);
    Outputs together;
    Outputs alone;
    ASSERT_TRUE(wide->forward(all.view(), together));
    const auto vocab = static_cast<std::size_t>(shape.vocab);
    for (std::size_t i = 0; i < all.rows.size(); ++i) {
      OwnedBatch one = all;
      one.rows = {all.rows[i]};
      one.committed = one.first_row = static_cast<std::int32_t>(i);
      ASSERT_TRUE(narrow->forward(one.view(), alone));
      ASSERT_EQ(std::memcmp(alone.logits.data(), together.logits.data() + i * vocab, vocab * sizeof(float)),
                0);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
