// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/calibrate_shapes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace draftscope::cli {

namespace {

constexpr std::string_view cached_name = "cached";
constexpr double smallest_cache = 8e6;

/// Half of the cache, so that activations, K/V and others' lines fit beside the weights.
speculation::ModelShape cached_shape() {
  speculation::ModelShape shape;
  shape.architecture = "LlamaForCausalLM";
  shape.d_model = 384;
  shape.n_heads = 6;
  shape.n_kv_heads = 2;
  shape.head_dim = 64;
  shape.d_ff = 1024;
  shape.vocab = 4096;
  shape.max_positions = 8192;
  constexpr double bytes_per_layer = 2.0 * 384 * (2 * 384 + 2 * 128 + 3 * 1024);
  constexpr double head_bytes = 2.0 * 384 * 4096;
  constexpr double least = 4.0;
  constexpr double most = 32.0;
  const double layers = (0.5 * last_cache_bytes() - head_bytes) / bytes_per_layer;
  shape.n_layers = static_cast<std::int32_t>(std::clamp(layers, least, most));
  shape.name = fmt::format("cached,layers={}", shape.n_layers);
  return shape;
}

/// Bytes that programs may still take without swapping.
double free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string field;
  double kib = 0.0;
  std::string unit;
  while (file >> field >> kib && std::getline(file, unit))
    if (field == "MemAvailable:") return kib * 1024.0;
  return 0.0;
}

}  // namespace

double last_cache_bytes() {
  // What the system says: behind a hypervisor the processor's own registers may tell of the host's.
  for (const char* index : {"index3", "index2"}) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/{}/size", index));
    double kib = 0.0;
    char unit = 0;
    if (file >> kib >> unit && unit == 'K') return kib * 1024.0;
  }
  return 0.0;
}

std::vector<std::string> calibration_models(const std::vector<std::string>& named,
                                            const std::string& device) {
  if (!named.empty()) return named;
  if (device != "cpu") return {"synthetic:llama-3.2-1b", "synthetic:llama-3-8b,layers=8"};
  constexpr double roomy = 4e9;  // 1.5 GB of weights, and the probe
  std::vector<std::string> models{free_memory_bytes() > roomy
                                      ? "synthetic:llama-3.2-1b,layers=8"
                                      : "synthetic:llama-3.2-1b,layers=4,vocab=32000"};
  if (last_cache_bytes() >= smallest_cache) models.emplace_back(cached_name);
  return models;
}

Result<LoadedModel> open_calibration_model(const std::string& name, const ModelOptions& options) {
  using enum engine::SyntheticMatrices;
  const auto matrices = options.device == "cpu" ? in_memory : by_backend;
  if (name == cached_name) {
    DRAFTSCOPE_TRY_ASSIGN(engine::Checkpoint checkpoint,
                          engine::make_synthetic(cached_shape(), 0.0, 1, matrices));
    auto held = std::make_unique<engine::Checkpoint>(std::move(checkpoint));
    engine::Tokenizer bytes = engine::Tokenizer::bytes(held->shape.vocab);
    return LoadedModel{std::move(held), std::move(bytes)};
  }
  ModelOptions opened = options;
  std::error_code ignored;
  const bool published = name.find(':') == std::string::npos && !std::filesystem::exists(name, ignored);
  opened.model = published ? "synthetic:" + name : name;
  return load_model(opened);
}

Result<simulator::CalibratedShape> calibrated_shape(const engine::Checkpoint& checkpoint,
                                                    const ModelOptions& options) {
  const speculation::ModelShape& shape = checkpoint.shape;
  simulator::CalibratedShape calibrated{.shape = {.name = shape.name,
                                                  .n_layers = shape.n_layers,
                                                  .d_model = shape.d_model,
                                                  .n_heads = shape.n_heads,
                                                  .n_kv_heads = shape.n_kv_heads,
                                                  .head_dim = shape.head_dim,
                                                  .d_ff = shape.d_ff,
                                                  .vocab = shape.vocab},
                                        .kernels = {}};
  const std::string dtype(engine::dtype_name(checkpoint.weights.embedding.dtype));
  DRAFTSCOPE_TRY_ASSIGN(calibrated.weights,
                        simulator::parse_weight_type(options.weights == "fp8" ? "fp8" : dtype));
  return calibrated;
}

}  // namespace draftscope::cli
