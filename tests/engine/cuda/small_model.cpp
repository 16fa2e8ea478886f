// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_model.h"

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "decoded_text.h"

namespace draftscope::engine::test {
namespace {

/// Widths that are no multiples of the kernels' tiles.
speculation::ModelShape small_shape() {
  speculation::ModelShape shape;
  shape.name = "small";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 3;
  shape.n_heads = 6;
  shape.n_kv_heads = 2;
  shape.head_dim = 32;
  shape.d_model = 80;
  shape.d_ff = 112;
  shape.vocab = 150;
  shape.max_positions = 512;
  return shape;
}

/// Widths that are multiples of a block, and of no run of it.
speculation::ModelShape small_shape_of_blocks() {
  speculation::ModelShape shape = small_shape();
  shape.d_model = 96;
  shape.d_ff = 160;
  return shape;
}

/// With norms behind products, heads that are rotated in part and layers that are not rotated.
speculation::ModelShape small_shape_with_norms() {
  speculation::ModelShape shape = small_shape();
  shape.architecture = "Olmo2ForCausalLM";
  shape.traits = {.norm_place = speculation::NormPlace::after,
                  .qk_norm = speculation::QkNorm::whole,
                  .no_rope_interval = 2,
                  .residual_multiplier = 0.5};
  shape.rope.rotated_dimensions = 24;
  return shape;
}

/// So wide that no GPU's blocks hold sixteen normalised rows, and little beside.
speculation::ModelShape small_shape_of_wide_rows() {
  speculation::ModelShape shape = small_shape();
  shape.n_layers = 2;
  shape.n_heads = 2;
  shape.n_kv_heads = 1;
  shape.d_model = 5760;
  shape.d_ff = 64;
  shape.vocab = 40;
  return shape;
}

std::vector<std::int32_t> prompt_of_squares(std::size_t tokens, std::int32_t vocab) {
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < tokens; ++i) prompt.push_back(static_cast<std::int32_t>(i * i) % vocab);
  return prompt;
}

/// Greedy text of vanilla, and the same of others.
void decode_all(Backend& backend, std::size_t prompt_tokens, std::initializer_list<const char*> strategies) {
  const std::vector<std::int32_t> prompt = prompt_of_squares(prompt_tokens, backend.shape().vocab);
  const DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
  const std::vector<std::int32_t> vanilla = text_under(backend, "vanilla", request);
  ASSERT_EQ(vanilla.size(), 12U);
  for (const char* strategy : strategies)
    EXPECT_EQ(text_under(backend, strategy, request), vanilla) << strategy;
}

void decode_sampled(Backend& backend) {
  const std::vector<std::int32_t> prompt = prompt_of_squares(5, backend.shape().vocab);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
  request.sampling = {.temperature = 0.9, .top_k = 40, .top_p = 0.9};
  EXPECT_EQ(text_under(backend, "layerskip:exit=2,gamma=3", request).size(), 12U);
  request.sampling.coupled = true;
  EXPECT_EQ(text_under(backend, "layerskip:exit=2,gamma=3", request),
            text_under(backend, "vanilla", request));
}

void put_through(const speculation::ModelShape& shape, std::initializer_list<CudaWeights> held,
                 const MakeOnDevice& make) {
  const auto checkpoint = make_synthetic(shape, 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  for (const CudaWeights weights : held) {
    const auto backend = make(*checkpoint, weights);
    // The decode kernels take 64 rows at most, and a split of the keys has 256: a long prompt goes beyond
    // both, and trees move its rows. All else that strategies do is the same behind a short one.
    decode_all(*backend, 5,
               {"layerskip:exit=1,gamma=3", "mix:mask=exit,exit=2,shape=tree,gamma=3", "prompt-lookup"});
    decode_sampled(*backend);
    decode_all(*backend, 250, {"mix:mask=exit,exit=2,shape=tree,gamma=3"});
  }
}

/// Verifications of more than eight rows, which are normalised ahead of their products.
void verify_wide_rows(std::initializer_list<CudaWeights> held, const MakeOnDevice& make) {
  const auto checkpoint = make_synthetic(small_shape_of_wide_rows(), 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  for (const CudaWeights weights : held)
    decode_all(*make(*checkpoint, weights), 5, {"layerskip:exit=1,gamma=9"});
}

}  // namespace

void put_through_everything(const MakeOnDevice& make) {
  using enum speculation::WeightFormat;
  put_through(small_shape(), {std::nullopt, fp8}, make);
  put_through(small_shape_with_norms(), {std::nullopt, fp8}, make);
  put_through(small_shape_of_blocks(), {q8_0, q4_0, q4_k, int4, fp8_block}, make);
  verify_wide_rows({std::nullopt, q4_k}, make);
}

}  // namespace draftscope::engine::test
