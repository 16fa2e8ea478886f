// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the specification of a GPU. Any input is read or refused in one line. A GPU that was read prices a
// model, or gives the reason why it can't.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/speculation/published_models.h>

#include <cmath>
#include <cstdint>

#include "prices/passes/cost_prices.h"
#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  const auto gpu = simulator::parse_gpu_specification({reinterpret_cast<const char*>(data), size}, "input");
  require_value_or_line(gpu);
  if (!gpu) return 0;
  require(std::isfinite(gpu->ridge()) && gpu->ridge() > 0.0, "a ridge that is no number");
  require(gpu->efficiency > 0.0 && gpu->efficiency <= 1.0, "an efficiency that is none");
  simulator::Scenario scenario;
  scenario.gpu = *gpu;
  scenario.shape = speculation::find_model_shape("Llama-2-7B").value();
  require_value_or_line(simulator::check_scenario(scenario));
  require_value_or_line(
      simulator::prices(simulator::cost_model_of(*gpu, scenario.shape, scenario.weights), scenario));
  return 0;
}
