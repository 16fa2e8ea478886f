// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>

#include <draftscope/base/parallel.h>

#include "checkpoint_hash.h"
#include "published_models.h"
#include "synthetic_fill.h"
#include "tensor_slots.h"
#include "view_memory.h"

namespace draftscope::engine {
namespace {

/// Differences from Llama's forward pass; empty for Llama itself.
std::string traits_text(const speculation::ModelShape& shape) {
  const speculation::ArchitectureTraits& traits = shape.traits;
  const speculation::RopeScaling& rope = shape.rope;
  const auto text = [](const speculation::ArchitectureTraits& of, double local_theta, std::int32_t rotated) {
    return fmt::format(" traits={}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}", static_cast<int>(of.activation),
                       static_cast<int>(of.norm_weight), static_cast<int>(of.norm_place),
                       static_cast<int>(of.qk_norm), of.full_attention_interval, of.no_rope_interval,
                       of.logit_cap, of.attention_logit_cap, of.attention_multiplier, of.embedding_multiplier,
                       of.residual_multiplier, of.logit_multiplier, local_theta, rotated);
  };
  const std::string own = text(traits, rope.local_theta, rope.rotated_dimensions);
  const std::string gate = traits.gated_mlp ? "" : " without a gate";
  if (gate.empty() && own == text({}, 0.0, 0) && rope.short_factors.empty()) return {};
  return own + gate +
         fmt::format(" factors={},{}", fmt::join(rope.short_factors, "/"), fmt::join(rope.long_factors, "/"));
}

/// Text of everything the weights and the forward pass depend on, in place of a config.json.
std::string canonical_text(const speculation::ModelShape& shape, SyntheticSeed seed) {
  const auto& rope = shape.rope;
  const std::string sizes = fmt::format(
      "synthetic 1 {} layers={} d_model={} heads={} kv_heads={} head_dim={} d_ff={} vocab={} positions={} "
      "eps={} "
      "tied={} qkv_bias={} output_bias={} mlp_bias={} window={} rope={}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{} "
      "redundancy={} seed={}",
      shape.architecture, shape.n_layers, shape.d_model, shape.n_heads, shape.n_kv_heads, shape.head_dim,
      shape.d_ff, shape.vocab, shape.max_positions, shape.rms_epsilon, shape.tied_embeddings, shape.qkv_bias,
      shape.output_bias, shape.mlp_bias, shape.sliding_window, static_cast<int>(rope.kind), rope.theta,
      rope.factor, rope.low_frequency_factor, rope.high_frequency_factor, rope.original_max_positions,
      rope.beta_fast, rope.beta_slow, rope.attention_factor, rope.mscale, rope.mscale_all_dim, rope.truncate,
      seed.redundancy, seed.seed);
  return sizes + traits_text(shape);
}

Result<void> check_redundancy(double redundancy) {
  // Written so that a NaN fails.
  if (!(redundancy >= 0.0 && redundancy < 1.0))
    return fail("synthetic model: redundancy is {}, expected 0 ≤ redundancy < 1", redundancy);
  return {};
}

/// The argument of `--model` that makes the same model again.
std::string argument_for(const speculation::ModelShape& published, const SyntheticOptions& options) {
  auto text = "synthetic:" + published.name;
  if (options.redundancy != 0.0) text += fmt::format(",redundancy={}", options.redundancy);
  if (options.seed != 1) text += fmt::format(",seed={}", options.seed);
  if (options.n_layers != 0) text += fmt::format(",layers={}", options.n_layers);
  if (options.vocab != 0) text += fmt::format(",vocab={}", options.vocab);
  return text;
}

}  // namespace

Result<Checkpoint> make_synthetic(const speculation::ModelShape& shape, double redundancy, std::uint64_t seed,
                                  SyntheticMatrices matrices) {
  const bool in_memory = matrices == SyntheticMatrices::in_memory;
  DRAFTSCOPE_TRY(check_redundancy(redundancy));
  DRAFTSCOPE_TRY(speculation::check_shape(shape, "synthetic model"));
  Checkpoint checkpoint;
  checkpoint.shape = shape;
  checkpoint.shape.eos_tokens.clear();
  checkpoint.synthetic = true;
  checkpoint.redundancy = redundancy;
  checkpoint.seed = seed;
  checkpoint.matrices_in_memory = in_memory;

  const auto slots = tensor_slots(shape, checkpoint.weights);
  std::vector<TensorView*> views;
  for (const auto& slot : slots) {
    *slot.view = {nullptr, DType::bf16, slot.rows, slot.columns};
    views.push_back(slot.view);
  }
  DRAFTSCOPE_TRY_ASSIGN(auto allocated, memory_for(views, in_memory ? Mapping::allocate : Mapping::reserve));
  const auto memory = std::make_shared<Mapping>(std::move(allocated));
  if (in_memory)
    fill_synthetic(slots, shape, {seed, redundancy}, usable_processors());
  else
    fill_synthetic_samples(slots, shape, {seed, redundancy});
  if (shape.tied_embeddings) checkpoint.weights.head = checkpoint.weights.embedding;

  CheckpointHash hash;
  hash.add_text(canonical_text(shape, {seed, redundancy}));
  for (const auto& slot : slots) hash.add_sample(*slot.view);
  checkpoint.hash = hash.hex();
  checkpoint.storage = memory;
  return checkpoint;
}

Result<Checkpoint> make_synthetic(const SyntheticOptions& options, SyntheticMatrices matrices) {
  DRAFTSCOPE_TRY_ASSIGN(auto shape, published_shape(options.model));
  shape.name = argument_for(shape, options);
  if (options.n_layers != 0) shape.n_layers = options.n_layers;
  if (options.vocab != 0) shape.vocab = options.vocab;
  return make_synthetic(shape, options.redundancy, options.seed, matrices);
}

}  // namespace draftscope::engine
