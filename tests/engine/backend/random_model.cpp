// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_model.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace draftscope::engine::test {
namespace {

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// Converts values that are zero or of magnitude 2^-14 to 65504. This file makes no others.
std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = (bits & 0x7fffffffU) + 0xfffU + ((bits >> 13) & 1U);
  if (magnitude < (113U << 23)) return 0;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | ((magnitude >> 13) - (112U << 10)));
}

class WeightMaker {
 public:
  /// Norm weights are near `center`.
  WeightMaker(DType dtype, std::uint64_t seed, float center)
      : dtype_(dtype), center_(center), random_(seed) {}

  TensorView make(std::int64_t rows, std::int64_t columns, float center, float spread) {
    std::normal_distribution<float> normal(center, spread);
    // Use an odd offset in elements, since mapped tensors are not aligned to vectors.
    const std::size_t element = dtype_bytes(dtype_);
    auto& block = blocks_->emplace_back((static_cast<std::size_t>(rows * columns) + 1) * element);
    std::byte* data = block.data() + element;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const float value = normal(random_);
      if (dtype_ == DType::f32) {
        std::memcpy(data + 4 * i, &value, 4);
      } else {
        const std::uint16_t bits = dtype_ == DType::bf16 ? to_bf16(value) : to_f16(value);
        std::memcpy(data + 2 * i, &bits, 2);
      }
    }
    return {data, dtype_, rows, columns};
  }
  TensorView matrix(std::int64_t rows, std::int64_t columns) {
    return make(rows, columns, 0.0F, 1.0F / std::sqrt(static_cast<float>(columns)));
  }
  TensorView norm(std::int64_t n) { return make(1, n, center_, 0.2F); }
  TensorView norm(bool there, std::int64_t n) { return there ? norm(n) : TensorView{}; }
  TensorView bias(bool there, std::int64_t n) { return there ? make(1, n, 0.0F, 0.3F) : TensorView{}; }
  std::shared_ptr<const void> storage() const { return blocks_; }

 private:
  DType dtype_;
  float center_;
  Random random_;
  std::shared_ptr<std::vector<std::vector<std::byte>>> blocks_ =
      std::make_shared<std::vector<std::vector<std::byte>>>();
};

}  // namespace

std::int32_t pick(Random& random, std::int32_t low, std::int32_t high) {
  return std::uniform_int_distribution<std::int32_t>(low, high)(random);
}

bool chance(Random& random, double probability) {
  return std::bernoulli_distribution(probability)(random);
}

speculation::ModelShape random_shape(Random& random) {
  speculation::ModelShape shape;
  shape.name = "random";
  shape.n_layers = pick(random, 1, 4);
  shape.d_model = pick(random, 3, 90);
  shape.n_kv_heads = pick(random, 1, 4);
  shape.n_heads = shape.n_kv_heads * pick(random, 1, 5);
  shape.head_dim = 2 * pick(random, 1, 20);
  shape.d_ff = pick(random, 1, 150);
  shape.vocab = pick(random, 2, 300);
  shape.max_positions = 512;
  shape.qkv_bias = chance(random, 0.3);
  shape.output_bias = chance(random, 0.2);
  shape.mlp_bias = chance(random, 0.2);
  shape.sliding_window = chance(random, 0.3) ? pick(random, 1, 20) : 0;
  shape.tied_embeddings = chance(random, 0.3);
  return shape;
}

speculation::ModelShape of_family(speculation::ModelShape shape, const speculation::ModelFamily& family,
                                  Random& random) {
  shape.architecture = family.architecture;
  shape.traits = family.traits;
  speculation::ArchitectureTraits& traits = shape.traits;
  if (traits.full_attention_interval > 0) {
    traits.full_attention_interval = pick(random, 2, 3);
    shape.sliding_window = pick(random, 1, 20);
  }
  if (traits.no_rope_interval > 0) traits.no_rope_interval = pick(random, 1, 3);
  if (traits.logit_cap > 0.0) traits.logit_cap = 2.0;
  if (traits.attention_logit_cap > 0.0) traits.attention_logit_cap = 1.5;
  if (traits.attention_multiplier > 0.0) traits.attention_multiplier = 0.3;
  if (family.model_type == "granite") {
    traits.embedding_multiplier = 1.5;
    traits.residual_multiplier = 0.4;
    traits.logit_multiplier = 0.25;
  }
  if (family.rotates_partly && shape.head_dim > 2)
    shape.rope.rotated_dimensions = 2 * pick(random, 1, shape.head_dim / 2 - 1);
  if (family.local_theta > 0.0 || family.scales_full_layers) shape.rope.local_theta = 100.0;
  if (family.rope_key == "llama_4_scaling_beta") {
    shape.rope.query_beta = 0.7;
    shape.rope.original_max_positions = 5;
  }
  return shape;
}

Checkpoint random_checkpoint(const speculation::ModelShape& shape, DType dtype, std::uint64_t seed) {
  Checkpoint checkpoint;
  checkpoint.shape = shape;
  using speculation::NormPlace;
  using speculation::QkNorm;
  const bool adds_one = shape.traits.norm_weight == speculation::NormWeight::plus_one;
  const bool before = shape.traits.norm_place != NormPlace::after;
  const bool after = shape.traits.norm_place != NormPlace::before;
  const bool has_qk_norm = shape.traits.qk_norm != QkNorm::none;
  const bool whole = shape.traits.qk_norm == QkNorm::whole;
  WeightMaker maker(dtype, seed, adds_one ? 0.0F : 1.0F);
  Weights& weights = checkpoint.weights;
  weights.embedding = maker.make(shape.vocab, shape.d_model, 0.0F, 1.0F);
  for (std::int32_t i = 0; i < shape.n_layers; ++i) {
    LayerWeights layer;
    layer.attention_norm = maker.norm(before, shape.d_model);
    layer.q = maker.matrix(shape.q_width(), shape.d_model);
    layer.k = maker.matrix(shape.kv_width(), shape.d_model);
    layer.v = maker.matrix(shape.kv_width(), shape.d_model);
    layer.o = maker.matrix(shape.d_model, shape.q_width());
    layer.mlp_norm = maker.norm(before, shape.d_model);
    if (shape.traits.gated_mlp) layer.gate = maker.matrix(shape.d_ff, shape.d_model);
    layer.up = maker.matrix(shape.d_ff, shape.d_model);
    layer.down = maker.matrix(shape.d_model, shape.d_ff);
    layer.q_bias = maker.bias(shape.qkv_bias, shape.q_width());
    layer.k_bias = maker.bias(shape.qkv_bias, shape.kv_width());
    layer.v_bias = maker.bias(shape.qkv_bias, shape.kv_width());
    layer.o_bias = maker.bias(shape.output_bias, shape.d_model);
    layer.gate_bias = maker.bias(shape.mlp_bias && shape.traits.gated_mlp, shape.d_ff);
    layer.up_bias = maker.bias(shape.mlp_bias, shape.d_ff);
    layer.down_bias = maker.bias(shape.mlp_bias, shape.d_model);
    layer.attention_output_norm = maker.norm(after, shape.d_model);
    layer.mlp_output_norm = maker.norm(after, shape.d_model);
    layer.q_norm = maker.norm(has_qk_norm, whole ? shape.q_width() : shape.head_dim);
    layer.k_norm = maker.norm(has_qk_norm, whole ? shape.kv_width() : shape.head_dim);
    if (shape.traits.activation == speculation::Activation::xielu) {
      layer.alpha_p = maker.make(1, 1, 0.2F, 0.5F);
      layer.alpha_n = maker.make(1, 1, -1.0F, 0.5F);
      layer.beta = maker.make(1, 1, 0.5F, 0.1F);
      layer.epsilon = maker.make(1, 1, -0.1F, 0.01F);  // so far from 0 that it shows
    }
    weights.layers.push_back(layer);
  }
  weights.final_norm = maker.norm(shape.d_model);
  weights.head = shape.tied_embeddings ? weights.embedding : maker.matrix(shape.vocab, shape.d_model);
  checkpoint.synthetic = true;
  checkpoint.storage = maker.storage();
  return checkpoint;
}

Batch OwnedBatch::view() const {
  Batch batch;
  batch.rows = rows;
  batch.hidden = hidden;
  batch.committed = committed;
  batch.first_row = first_row;
  batch.ancestors = ancestors;
  batch.mask = mask ? &*mask : nullptr;
  batch.layers = layers;
  batch.wanted = wanted;
  batch.wanted.hidden_after = hidden_after;
  return batch;
}

Outputs outputs_of(Backend& backend, const Batch& batch) {
  Outputs outputs;
  const auto done = backend.forward(batch, outputs);
  if (!done) throw std::runtime_error(done.error().message);
  return outputs;
}

OwnedBatch chain(const speculation::ModelShape& shape, Random& random, std::int32_t n, std::int32_t first) {
  OwnedBatch batch;
  for (std::int32_t i = 0; i < n; ++i)
    batch.rows.push_back({pick(random, 0, shape.vocab - 1), -1, first + i});
  batch.committed = first;
  batch.first_row = first;
  batch.layers = {0, shape.n_layers};
  batch.wanted.head = true;
  batch.wanted.logits = true;
  return batch;
}

OwnedBatch tree(const speculation::ModelShape& shape, Random& random, std::int32_t n,
                std::int32_t committed) {
  OwnedBatch batch = chain(shape, random, n, committed);
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  batch.ancestors.assign(words * static_cast<std::size_t>(n), 0);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t parent = pick(random, -1, i - 1);
    batch.rows[static_cast<std::size_t>(i)].position = committed;
    if (parent < 0) continue;
    for (std::size_t w = 0; w < words; ++w)
      batch.ancestors[static_cast<std::size_t>(i) * words + w] =
          batch.ancestors[static_cast<std::size_t>(parent) * words + w];
    batch.ancestors[static_cast<std::size_t>(i) * words + static_cast<std::size_t>(parent) / 64] |=
        std::uint64_t{1} << (parent % 64);
    batch.rows[static_cast<std::size_t>(i)].position =
        batch.rows[static_cast<std::size_t>(parent)].position + 1;
  }
  return batch;
}

speculation::SublayerMask random_mask(Random& random, std::int32_t n_layers, double skipped) {
  speculation::SublayerMask mask(n_layers);
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    if (chance(random, skipped)) mask.skip_attention(layer);
    if (chance(random, skipped)) mask.skip_mlp(layer);
  }
  return mask;
}

}  // namespace draftscope::engine::test
