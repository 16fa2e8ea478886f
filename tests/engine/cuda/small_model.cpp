// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_model.h"

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda_shapes.h"
#include "decoded_text.h"

namespace draftscope::engine::test {
namespace {

/// Whether a text includes wide passes, which use a library's products.
enum class Passes : std::uint8_t { all, narrow };

/// Widths that are not multiples of the kernels' tiles.
speculation::ModelShape small_shape() {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.name = "small";
  shape.n_layers = 3;
  shape.n_heads = 6;
  shape.n_kv_heads = 2;
  shape.vocab = 150;
  return shape;
}

/// Widths that are multiples of a format's block, but not of its run.
speculation::ModelShape small_shape_of_blocks() {
  speculation::ModelShape shape = small_shape();
  shape.d_model = 96;
  shape.d_ff = 160;
  return shape;
}

/// A shape with norms after products, partly rotated heads and layers without rotation.
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

std::vector<std::int32_t> prompt_of_squares(std::size_t tokens, std::int32_t vocab) {
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < tokens; ++i) prompt.push_back(static_cast<std::int32_t>(i * i) % vocab);
  return prompt;
}

/// Fills the cache with the K/V of a prompt except for its last tokens, by passes of few rows. Returns how
/// many tokens are cached.
std::int32_t cache_narrowly(Backend& backend, std::span<const std::int32_t> prompt) {
  constexpr std::size_t width = 50;
  std::size_t cached = 0;
  for (; cached + width < prompt.size(); cached += width)
    (void)text_under(backend, "vanilla",
                     {.prompt = prompt.first(cached + width),
                      .cached_tokens = static_cast<std::int32_t>(cached),
                      .max_new_tokens = 1});
  return static_cast<std::int32_t>(cached);
}

/// Decodes greedy text of vanilla, and expects the same text of other strategies.
void decode_all(Backend& backend, const DecodeRequest& request,
                std::initializer_list<const char*> strategies) {
  const std::vector<std::int32_t> vanilla = text_under(backend, "vanilla", request);
  ASSERT_EQ(vanilla.size(), 12U);
  for (const char* strategy : strategies)
    EXPECT_EQ(text_under(backend, strategy, request), vanilla) << strategy;
}

void decode_sampled(Backend& backend, DecodeRequest request) {
  request.sampling = {.temperature = 0.9, .top_k = 40, .top_p = 0.9};
  EXPECT_EQ(text_under(backend, "layerskip:exit=2,gamma=3", request).size(), 12U);
  request.sampling.coupled = true;
  EXPECT_EQ(text_under(backend, "layerskip:exit=2,gamma=3", request),
            text_under(backend, "vanilla", request));
}

void put_through(const HeldModel& model, const MakeOnDevice& make, Passes passes) {
  const auto checkpoint = make_synthetic(model.shape, 0.6, 5, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto backend = make(*checkpoint, model.weights);
  const std::vector<std::int32_t> prompt = prompt_of_squares(5, model.shape.vocab);
  const DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
  const char* const tree = "mix:mask=exit,exit=2,shape=tree,gamma=3";
  // Searches over layers store, compare and move states on the device.
  const char* const search = "clasp:skip=1,interval=4";
  decode_all(*backend, request, {"layerskip:exit=1,gamma=3", tree, "prompt-lookup", search, "del"});
  decode_sampled(*backend, request);
  // Programs take at most 64 rows, and a split of the keys has 256: a long prompt exceeds both, and trees
  // move its rows. Everything else is the same as after a short one.
  const std::vector<std::int32_t> long_prompt = prompt_of_squares(250, model.shape.vocab);
  DecodeRequest long_request{.prompt = long_prompt, .max_new_tokens = 12};
  if (passes == Passes::narrow) long_request.cached_tokens = cache_narrowly(*backend, long_prompt);
  decode_all(*backend, long_request, {tree});
}

}  // namespace

std::vector<HeldModel> small_models() {
  using enum speculation::WeightFormat;
  std::vector<HeldModel> models = {{"bf16", small_shape(), std::nullopt},
                                   {"fp8", small_shape(), fp8},
                                   {"norms_bf16", small_shape_with_norms(), std::nullopt},
                                   {"norms_fp8", small_shape_with_norms(), fp8}};
  for (const speculation::WeightFormat format : {q8_0, q4_0, q4_k, int4, fp8_block})
    models.push_back({std::string(speculation::weight_format_name(format)), small_shape_of_blocks(), format});
  return models;
}

void put_through_everything(const MakeOnDevice& make) {
  for (const HeldModel& model : small_models()) {
    SCOPED_TRACE(model.name);
    put_through(model, make, Passes::all);
  }
}

void put_through_narrow_passes(const HeldModel& model, const MakeOnDevice& make) {
  put_through(model, make, Passes::narrow);
}

}  // namespace draftscope::engine::test
