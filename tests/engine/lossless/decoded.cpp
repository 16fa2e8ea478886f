// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoded.h"

#include <gtest/gtest.h>

#include "../backend/counted_drafts.h"

namespace draftscope::engine {

namespace {

std::int32_t up_to(std::mt19937& random, std::uint32_t n) {
  return static_cast<std::int32_t>(1 + random() % n);
}

speculation::ModelShape random_shape(std::mt19937& random) {
  speculation::ModelShape shape;
  shape.name = "random";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 1 + up_to(random, 6);
  shape.n_kv_heads = up_to(random, 3);
  shape.n_heads = shape.n_kv_heads * up_to(random, 3);
  shape.head_dim = 8 * up_to(random, 4);
  shape.d_model = 8 * up_to(random, 12);
  shape.d_ff = 8 * up_to(random, 20);
  shape.vocab = 10 + up_to(random, 300);
  shape.max_positions = 512;
  shape.tied_embeddings = random() % 2 == 0;
  return shape;
}

/// Redundant layers make drafts that are often right, so that long acceptances occur too.
Checkpoint synthetic(const speculation::ModelShape& shape, std::mt19937& random) {
  auto checkpoint = make_synthetic(shape, 0.1 * static_cast<double>(random() % 10), random());
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  return std::move(checkpoint).value();
}

}  // namespace

Checkpoint random_checkpoint(std::mt19937& random) {
  return synthetic(random_shape(random), random);
}

Checkpoint random_checkpoint(std::mt19937& random, const speculation::ModelFamily& family) {
  speculation::ModelShape shape = random_shape(random);
  shape.n_layers = 4;
  shape.architecture = family.architecture;
  shape.traits = family.traits;
  speculation::ArchitectureTraits& traits = shape.traits;
  if (traits.full_attention_interval > 0) {
    traits.full_attention_interval = 2;
    shape.sliding_window = 4 + up_to(random, 20);
  }
  if (traits.no_rope_interval > 0) traits.no_rope_interval = 2;
  if (family.rotates_partly) shape.rope.rotated_dimensions = shape.head_dim / 2;
  shape.rope.local_theta = family.scales_full_layers ? 100.0 : family.local_theta;
  if (family.rope_key == "llama_4_scaling_beta") {
    shape.rope.query_beta = 0.7;
    shape.rope.original_max_positions = 5;
  }
  if (family.model_type == "granite") {
    traits.embedding_multiplier = 12.0;
    traits.residual_multiplier = 0.22;
    traits.logit_multiplier = 0.125;
  }
  // Norms of rotated heads make these layers so alike that drafts would always be right.
  const bool alike = traits.qk_norm == speculation::QkNorm::rotated_heads;
  const auto checkpoint = make_synthetic(shape, alike ? 0.3 : 0.7, random());
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  return *checkpoint;
}

std::unique_ptr<Backend> cpu_backend(const Checkpoint& checkpoint, std::int32_t threads,
                                     std::int32_t cache_rows) {
  auto backend = make_cpu_backend(checkpoint, {.threads = threads, .cache_rows = cache_rows});
  EXPECT_TRUE(backend) << backend.error().message;
  return std::move(backend).value();
}

std::vector<std::int32_t> random_tokens(std::mt19937& random, std::size_t count, std::int32_t vocab) {
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab));
  return tokens;
}

Decoded decode_with(Backend& backend, const std::string& specification, const DecodeRequest& request,
                    std::uint64_t seed) {
  test::CountedDrafts counts;
  return {expect_decoded(backend, specification, request, counts, seed).tokens, counts.drafted,
          counts.accepted};
}

}  // namespace draftscope::engine
