// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/engine_law.h"

#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

constexpr std::string_view h200 = "H200-SXM5-141GB";

// A pass is one cooperative kernel. The law is within 4 % of Llama-3-8B, Llama-3.2-1B and SmolLM2-135M in
// bf16 at 1 to 32 rows, and within 7 % of Llama-3-8B in fewer bits (bench/gpu/measured/h200_programs.csv,
// 2026-11-27).
constexpr EngineLaw programs{.gpu = h200,
                             .product_us = 4.7,
                             .head_us = 8.0,
                             .attention_us = 9.4,
                             .pass_us = 36.0,
                             .head_efficiency = 0.971,
                             .context_efficiency = 0.385,
                             .context_row_share = 0.2,
                             .layer_us = {1.57, 3.9, 0.0, 40.0, 40.0, 80.0},
                             .byte_shares = {0.0, 0.078, 0.187, 2.5, 1.0, 2.0},
                             .products = {{{WeightType::bf16, 0.966, 0.0026},
                                           {WeightType::fp8, 0.491, 0.005},
                                           {WeightType::q8_0, 0.667, 0.0115},
                                           {WeightType::q4_0, 0.338, 0.081},
                                           {WeightType::int4, 0.255, 0.0}}}};

// Passes are CUDA graphs, and every 16 rows read the weights again. The law was fitted to Llama-3-8B and
// Llama-3.2-1B with blocks apart, and to more than one row in fewer bits (bench/gpu/measured/h200_passes.csv,
// 2026-11-26). The start of a draft took 40 to 60 us of SmolLM2-135M and Llama-3.2-1B, 85 us of Llama-3-8B.
constexpr EngineLaw graphs{.gpu = h200,
                           .product_us = 3.7,
                           .head_us = 4.0,
                           .attention_us = 8.1,
                           .pass_us = 6.0,
                           .draft_start_us = 50.0,
                           .head_efficiency = 0.909,
                           .context_efficiency = 0.595,
                           .context_row_share = 0.4,
                           .layer_us = {1.7, 0.0, 16.0, 34.0, 50.0, 100.0},
                           .byte_shares = {0.0, 0.0, 1.45, 2.8, 5.0, 10.0},
                           .products = {{{WeightType::bf16, 0.81, 0.013},
                                         {WeightType::fp8, 0.55, 0.045},
                                         {WeightType::q8_0, 0.61, 0.034},
                                         {WeightType::q4_0, 0.39, 0.044},
                                         {WeightType::int4, 0.43, 0.055}}},
                           .launches_as_planned = true};

}  // namespace

const EngineLaw& current_engine() {
  return programs;
}

const EngineLaw& former_engine() {
  return graphs;
}

const EngineLaw& engine_of_version(std::string_view version) {
  return version.starts_with("0.1.") || version == "0.2.0" ? graphs : programs;
}

const EngineLaw& recorded_engine(const traces::Meta& meta) {
  // Only programs time their operations themselves.
  if (meta_value(meta, "device_trace") == "operations") return programs;
  return engine_of_version(meta_value(meta, "tool_version"));
}

const EngineProducts& engine_products(const EngineLaw& engine, WeightType type) {
  const auto exact = std::ranges::find(engine.products, type, &EngineProducts::type);
  if (exact != engine.products.end()) return *exact;
  return *std::ranges::min_element(engine.products, {}, [type](const EngineProducts& known) {
    return std::abs(std::log(layer_weight_bytes(known.type) / layer_weight_bytes(type)));
  });
}

ProductLaw product_law(const GpuSpecification& gpu, WeightType type, const EngineLaw* engine) {
  if (engine == nullptr) return gpu.products(type);
  const EngineProducts& products = engine_products(*engine, type);
  const bool is_its_gpu = gpu.name == engine->gpu;
  const bool has_its_bytes = layer_weight_bytes(products.type) == layer_weight_bytes(type);
  return {.t0_us = engine->product_us,
          .efficiency = gpu.read_efficiency * products.efficiency,
          .calibration = is_its_gpu && has_its_bytes ? Calibration::fitted : Calibration::related,
          .t0_sigma = is_its_gpu ? 0.08 : 0.35,
          .efficiency_sigma = has_its_bytes ? (is_its_gpu ? 0.04 : 0.06) : 0.1};
}

}  // namespace draftscope::simulator
