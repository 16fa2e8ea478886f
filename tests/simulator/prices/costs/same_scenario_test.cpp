// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/same_scenario.h"

#include <draftscope/speculation/published_models.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace draftscope::simulator {
namespace {

Scenario full_scenario() {
  Scenario scenario;
  scenario.gpu = find_gpu("H100-SXM5-80GB").value();
  scenario.gpu->narrow_products[0] = ProductLaw{.t0_us = 1.0};
  scenario.shape = speculation::find_model_shape("Llama-3.2-1B").value();
  scenario.host = find_host_time("serving").value();
  scenario.draft_cost = DraftCostInput{.kind = DraftCostInput::Kind::share, .share = 0.1};
  scenario.drafts = {{2, 2}, {4, 3}};
  scenario.auxiliary_passes = {{.kind = AuxiliaryPassKind::layer, .rows = 3}};
  scenario.draft_model = scenario.shape;
  return scenario;
}

TEST(SameScenario, IsOneWithoutAnyDifference) {
  EXPECT_TRUE(same_scenario({}, {}));
  EXPECT_TRUE(same_scenario(full_scenario(), full_scenario()));
  EXPECT_FALSE(same_scenario(full_scenario(), {}));
  EXPECT_FALSE(same_scenario({}, full_scenario()));
}

TEST(SameScenario, SeesEveryDifference) {
  const std::vector<std::function<void(Scenario&)>> changes{
      [](Scenario& one) { one.gpu.reset(); },
      [](Scenario& one) { one.gpu->name += "x"; },
      [](Scenario& one) { one.gpu->bandwidth_gb_s += 1.0; },
      [](Scenario& one) { one.gpu->l2_mb = 3.0; },
      [](Scenario& one) { one.gpu->narrow_products[0]->efficiency = 0.5; },
      [](Scenario& one) { one.gpu->narrow_products[0].reset(); },
      [](Scenario& one) { one.gpu->number_types.push_back(WeightType::bf16); },
      [](Scenario& one) { one.shape.name += "x"; },
      [](Scenario& one) { ++one.shape.n_layers; },
      [](Scenario& one) { one.weights = WeightType::fp8; },
      [](Scenario& one) { one.regime = Regime::graph; },
      [](Scenario& one) { one.host.reset(); },
      [](Scenario& one) { one.host->max_ns += 1.0; },
      [](Scenario& one) { one.draft_cost.reset(); },
      [](Scenario& one) { one.draft_cost->share = 0.2; },
      [](Scenario& one) { one.verified_layers = VerifiedLayers::above_exit; },
      [](Scenario& one) { ++one.batch; },
      [](Scenario& one) { ++one.tensor_parallel; },
      [](Scenario& one) { ++one.widths; },
      [](Scenario& one) { one.context += 1.0; },
      [](Scenario& one) { one.with_stalls = false; },
      [](Scenario& one) { ++one.drafts[1].mlp; },
      [](Scenario& one) { ++one.auxiliary_passes[0].rows; },
      [](Scenario& one) { ++one.widest_auxiliary_pass; },
      [](Scenario& one) { one.draft_model.reset(); },
      [](Scenario& one) { ++one.draft_model->d_ff; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Scenario changed = full_scenario();
    changes[i](changed);
    EXPECT_FALSE(same_scenario(full_scenario(), changed)) << i;
    EXPECT_FALSE(same_scenario(changed, full_scenario())) << i;
  }
}

}  // namespace
}  // namespace draftscope::simulator
