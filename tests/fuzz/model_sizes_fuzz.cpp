// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a config.json or a GGUF file's sizes, of a model for predictions, not for decoding. Any input is
// read or refused in one line. A model that was read has prices, or a scenario gives the reason why not.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>

#include <cmath>
#include <cstdint>

#include "prices/passes/cost_prices.h"
#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require_value_or_line(simulator::parse_gguf_model(text, "sizes"));
  auto model = simulator::parse_planned_model(text, "config");
  require_value_or_line(model);
  if (!model) model = simulator::parse_gguf_model(text, "sizes");
  if (!model) return 0;
  require(model->shape.n_layers > 0 && model->shape.d_model > 0 && model->shape.vocab > 0,
          "a size that is none");
  simulator::Scenario scenario;
  scenario.shape = model->shape;
  scenario.plan = model->plan;
  scenario.gpu = simulator::known_gpus().front();
  scenario.drafts = {{1, 1}};
  const auto prices =
      simulator::prices(simulator::cost_model_of(*scenario.gpu, scenario.shape, scenario.weights), scenario);
  require_value_or_line(prices);
  if (prices)
    require(prices->target_step.ns > 0.0 && std::isfinite(prices->target_step.ns), "a step without a time");
  return 0;
}
