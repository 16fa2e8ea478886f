// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a config.json of a model for predictions, not for decoding. Any input is read or refused in one
// line. A scenario accepts a model that was read, or gives the reason why not.

#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/model_config.h>

#include <cstdint>

#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  const auto shape = speculation::parse_model_sizes({{reinterpret_cast<const char*>(data), size}, "config"});
  require_value_or_line(shape);
  if (!shape) return 0;
  require(shape->n_layers > 0 && shape->d_model > 0 && shape->vocab > 0, "a size that is none");
  simulator::Scenario scenario;
  scenario.shape = *shape;
  require_value_or_line(simulator::check_scenario(scenario));
  return 0;
}
