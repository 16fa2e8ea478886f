// SPDX-License-Identifier: GPL-3.0-or-later
#include "planted_calibration.h"

#include <draftscope/speculation/published_models.h>
#include <cmath>
#include <numeric>
#include <random>

#include "../fit/planted_trace.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/engine_law.h"

namespace draftscope::simulator {

namespace {

std::vector<speculation::KernelForm> forms_of(const PlantedCalibration& planted) {
  const std::int32_t n_layers = planted.truth.shape.n_layers;
  const speculation::DraftSublayers all{n_layers, n_layers};
  std::vector<speculation::KernelForm> forms;
  const auto pass = [&](const speculation::DraftSublayers& sublayers, std::int32_t rows, double context) {
    forms.push_back({.kind = speculation::KernelKind::target_pass,
                     .sublayers = sublayers,
                     .rows = rows,
                     .context = context});
  };
  for (const std::int32_t rows : {1, 2, 4, 8, 16}) pass(all, rows, 64.0);
  for (const std::int32_t rows : {1, 8}) pass(all, rows, 1024.0);
  for (const std::int32_t exit : {n_layers / 4, n_layers / 2})
    forms.push_back({.kind = speculation::KernelKind::draft_step, .sublayers = {exit, exit}, .context = 8.0});
  forms.push_back({.kind = speculation::KernelKind::drafting_round});
  forms.push_back({.kind = speculation::KernelKind::step_round});
  if (!planted.with_operations) {
    for (const std::int32_t rows : {1, 8}) {
      pass({n_layers, 0}, rows, 64.0);
      pass({0, n_layers}, rows, 64.0);
    }
    pass({0, 0}, 1, 64.0);
    return forms;
  }
  for (std::size_t i = 0; i < speculation::operation_count; ++i)
    for (const std::int32_t rows : {1, 2, 4, 8, 16})
      for (const double context : {64.0, 1024.0})
        if (static_cast<speculation::Operation>(i) == speculation::Operation::attention || context == 64.0)
          forms.push_back(
              {.operation = static_cast<speculation::Operation>(i), .rows = rows, .context = context});
  return forms;
}

}  // namespace

MachineCalibration planted_calibration(const PlantedCalibration& planted) {
  const CostModel& truth = planted.truth;
  std::mt19937_64 random(planted.seed);
  std::normal_distribution<double> normal(0.0, planted.noise);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  CalibratedShape shape{.shape = truth.shape, .weights = truth.weights, .kernels = {}};
  for (const speculation::KernelForm& form : forms_of(planted)) {
    const CostVector coefficients = kernel_coefficients(form, truth.shape, truth.weights, truth.width_law);
    const double ns = std::inner_product(coefficients.begin(), coefficients.end(), truth.values.begin(), 0.0);
    std::vector<double> samples;
    for (int i = 0; i < planted.samples; ++i) {
      const double outlier = unit(random) < planted.outliers ? 1.5 + 2.5 * unit(random) : 1.0;
      samples.push_back(ns * std::exp(normal(random)) * outlier);
    }
    shape.kernels.push_back({form, speculation::spread_of(std::move(samples))});
  }
  MachineCalibration calibration{.device = truth.gpu ? "cuda" : "cpu",
                                 .processor = truth.gpu ? truth.gpu->name : "planted processor",
                                 .kernel_set = "planted",
                                 .threads = truth.gpu ? 0 : 2,
                                 .engine_version = "1.2.3",
                                 .date = "2024-05-06T07:08:09Z",
                                 .gpu = truth.gpu ? truth.gpu->name : "",
                                 .cache_bytes = 32e6,
                                 .memory_gb_s = speculation::Spread{40.0, 39.0, 41.5, 7},
                                 .shapes = {}};
  calibration.shapes.push_back(std::move(shape));
  return calibration;
}

CostModel planted_processor() {
  CostModel model = planted_cpu();
  model.shape = {"planted", "", 8, 1024, 16, 8, 64, 3072, 16384};
  for (std::size_t i = 0; i < speculation::product_count; ++i) {
    const auto product = static_cast<speculation::Operation>(i);
    model.values[launch_parameter(product)] = 50000.0;
    model.values[per_byte_parameter(product)] = 0.025;
    for (std::size_t term = 0; term < width_terms; ++term)
      model.values[width_parameter(product, term)] = 0.003;
  }
  return model;
}

CostModel planted_gpu() {
  CostModel model = cost_model_of(*find_gpu("H200"), *speculation::find_model_shape("Llama-3.2-1B"),
                                  WeightType::bf16, &current_engine());
  for (std::size_t i = 0; i < speculation::product_count; ++i) {
    model.values[launch_parameter(static_cast<speculation::Operation>(i))] *= 1.5;
    model.values[per_byte_parameter(static_cast<speculation::Operation>(i))] *= 1.25;
  }
  return model;
}

}  // namespace draftscope::simulator
