// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/scenario.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "prices/plan/plan_work.h"

namespace draftscope::simulator {

namespace {

constexpr double gigabyte = 1e9;
constexpr double gibibyte = 1073741824.0;  // Meaning of GB in data sheets.
constexpr double usable_share = 0.95;
constexpr double logit_bytes = 4.0;

double shared_kv_width(const ModelShape& shape, double parts) {
  // A GPU has at least one K/V head.
  return std::max<double>(static_cast<double>(shape.kv_width()) / parts, shape.head_dim);
}

double vocabulary_weights(const ModelShape& shape, WeightType type, double parts) {
  return (shape.tied_embeddings ? 1.0 : 2.0) * shape.d_model * shape.vocab / parts * activation_bytes(type);
}

double held_weights(const ModelShape& shape, WeightType type, double parts) {
  const double d_model = shape.d_model;
  const double per_layer = d_model * (2.0 * shape.q_width() / parts + 2.0 * shared_kv_width(shape, parts) +
                                      shape.mlp_matrices() * shape.d_ff / parts);
  return shape.n_layers * per_layer * layer_weight_bytes(type) + vocabulary_weights(shape, type, parts);
}

double held_kv(const ModelShape& shape, WeightType type, double parts, double rows) {
  return 2.0 * shape.n_layers * shared_kv_width(shape, parts) * rows * activation_bytes(type);
}

double held_activations(const Scenario& scenario, double parts) {
  const ModelShape& shape = scenario.shape;
  const double rows =
      static_cast<double>(std::max(scenario.widths, scenario.widest_auxiliary_pass)) * scenario.batch;
  const double widest =
      std::max(shape.mlp_input_matrices() * shape.d_ff / parts,
               static_cast<double>(shape.q_width()) / parts + 2.0 * shared_kv_width(shape, parts));
  return rows * ((2.0 * shape.d_model + widest) * activation_bytes(scenario.weights) +
                 shape.vocab / parts * logit_bytes);
}

bool fits(const Scenario& scenario, double usable) {
  return memory_need(scenario).total() <= usable;
}

std::string gigabytes(double bytes) {
  const double value = bytes / gigabyte;
  return value < 10.0 ? fmt::format("{:.2f} GB", value) : fmt::format("{:.1f} GB", value);
}

std::optional<std::string> more_gpus(const Scenario& scenario, double usable) {
  constexpr std::int32_t max_gpus = 8;
  for (std::int32_t gpus = 2; gpus <= max_gpus; gpus *= 2) {
    if (gpus <= scenario.tensor_parallel || scenario.shape.n_heads % gpus != 0) continue;
    Scenario more = scenario;
    more.tensor_parallel = gpus;
    if (fits(more, usable)) return fmt::format("{} GPUs (--tensor-parallel {})", gpus, gpus);
  }
  return std::nullopt;
}

std::optional<std::string> fewer_bits(const Scenario& scenario, const GpuSpecification& gpu, double usable) {
  for (const WeightType type :
       {WeightType::bf16, WeightType::fp8, WeightType::int8, WeightType::nvfp4, WeightType::int4}) {
    if (layer_weight_bytes(type) >= layer_weight_bytes(scenario.weights) || !check_number_type(gpu, type))
      continue;
    Scenario fewer = scenario;
    fewer.weights = type;
    if (fits(fewer, usable))
      return fmt::format("{} weights (--weights {})", weight_type_name(type), weight_type_name(type));
  }
  return std::nullopt;
}

std::optional<std::string> shorter_context(Scenario scenario, double usable) {
  const double longest = scenario.context;
  scenario.context = 0.0;
  const double rest = usable - memory_need(scenario).total();
  scenario.context = 1.0;
  const double per_row = memory_need(scenario).total() - (usable - rest);
  const double rows = per_row > 0.0 ? std::floor(rest / per_row) : 0.0;
  if (rows < 1.0 || rows >= longest) return std::nullopt;
  return fmt::format("a context of {:.0f} rows", rows);
}

std::optional<std::string> smaller_batch(Scenario scenario, double usable) {
  while (scenario.batch > 1) {
    scenario.batch /= 2;
    if (fits(scenario, usable))
      return fmt::format("a batch of {} (--batch {})", scenario.batch, scenario.batch);
  }
  return std::nullopt;
}

}  // namespace

MemoryNeed memory_need(const Scenario& scenario) {
  const double parts = scenario.tensor_parallel;
  const double rows = scenario.batch * (scenario.context + scenario.widths);
  MemoryNeed need{.weights = held_weights(scenario.shape, scenario.weights, parts),
                  .kv = held_kv(scenario.shape, scenario.weights, parts, rows),
                  .activations = held_activations(scenario, parts)};
  if (scenario.plan) {
    need.weights = held_layers(scenario) + vocabulary_weights(scenario.shape, scenario.weights, parts);
    need.kv = held_states(scenario);
  } else if (uses_next_token_layer(scenario)) {
    ModelShape layer = scenario.shape;
    layer.n_layers = 1;
    need.draft_model = held_weights(layer, scenario.weights, parts) -
                       vocabulary_weights(layer, scenario.weights, parts) + join_weights(scenario) +
                       held_kv(layer, scenario.weights, parts, rows);
  }
  if (scenario.draft_model) {
    const ModelShape& draft = *scenario.draft_model;
    need.draft_model =
        held_weights(draft, scenario.weights, parts) + held_kv(draft, scenario.weights, parts, rows);
  }
  return need;
}

std::optional<double> usable_memory(const GpuSpecification& gpu) {
  if (!gpu.memory_gb) return std::nullopt;
  return usable_share * gibibyte * *gpu.memory_gb;
}

std::optional<std::string> first_that_fits(const Scenario& scenario, const GpuSpecification& gpu) {
  const auto usable = usable_memory(gpu);
  if (!usable) return std::nullopt;
  if (auto change = more_gpus(scenario, *usable)) return change;
  if (auto change = fewer_bits(scenario, gpu, *usable)) return change;
  if (auto change = shorter_context(scenario, *usable)) return change;
  return smaller_batch(scenario, *usable);
}

Result<void> check_memory(const Scenario& scenario, const GpuSpecification& gpu) {
  const auto usable = usable_memory(gpu);
  if (!usable || fits(scenario, *usable)) return {};
  const MemoryNeed need = memory_need(scenario);
  const auto change = first_that_fits(scenario, gpu);
  return fail(
      "{} in {} does not fit {}: it needs {} per GPU ({}), expected at most {}; {}",
      scenario.shape.name.empty() ? "the model" : scenario.shape.name, weight_type_name(scenario.weights),
      gpu.name, gigabytes(need.total()), memory_text(need), gigabytes(*usable),
      change ? *change + " would fit"
             : std::string("no number of GPUs up to 8, number type, context or batch alone would fit"));
}

std::string memory_text(const MemoryNeed& need) {
  const std::string draft =
      need.draft_model > 0.0 ? fmt::format(", {} of the draft model", gigabytes(need.draft_model)) : "";
  return fmt::format("{} of weights, {} of K/V{} and {} of activations", gigabytes(need.weights),
                     gigabytes(need.kv), draft, gigabytes(need.activations));
}

}  // namespace draftscope::simulator
