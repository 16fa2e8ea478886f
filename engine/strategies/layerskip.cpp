// SPDX-License-Identifier: GPL-3.0-or-later
// LayerSkip's self-speculative decoding: a fixed exit layer E and a fixed speculation length γ.
// Source: Elhoushi et al., "LayerSkip" (ACL 2024), §4.3; the draft's K/V and exit states are the target's own
// below E.

#include <algorithm>

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

class LayerSkip final : public Strategy {
 public:
  LayerSkip(SublayerMask mask, std::int32_t gamma, Verification verification)
      : mask_(std::move(mask)), gamma_(gamma), verification_(verification) {}

  RoundPlan plan(const RoundView& /*round*/) override {
    return {.mask = &mask_, .draft_length = gamma_, .verification = verification_};
  }

 private:
  SublayerMask mask_;
  std::int32_t gamma_;
  Verification verification_;
};

Result<std::unique_ptr<Strategy>> make_layerskip(Parameters& parameters, const ModelShape& shape) {
  if (shape.n_layers < 2)
    return fail("strategy layerskip: the model has {} layer, expected at least 2", shape.n_layers);
  parameters.set_default("exit", std::max(1, shape.n_layers / 4));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t exit, parameters.integer("exit", 1, shape.n_layers - 1));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t gamma, parameters.integer("gamma", 0, 63));
  DRAFTSCOPE_TRY_ASSIGN(const std::string verify, parameters.one_of("verify", {"all-layers", "above-exit"}));
  return std::make_unique<LayerSkip>(
      SublayerMask::early_exit(shape.n_layers, exit), gamma,
      verify == "above-exit" ? Verification::above_exit : Verification::all_layers);
}

}  // namespace

StrategyEntry layerskip_entry() {
  return {.description =
              {.name = "layerskip",
               .summary = "drafts with the first E layers, a fixed number of tokens a round",
               .source = "Elhoushi et al. 2024, LayerSkip, §4.3",
               .parameters = {{"exit", "L/4", "layers",
                               "E: the draft runs layers 0 to E-1, then the final norm and head"},
                              {"gamma", "6", "tokens", "speculation length; 0 decodes as vanilla does"},
                              {"verify", "all-layers", "",
                               "all-layers, or above-exit: keep the draft's exit states and run the layers "
                               "below E for the last draft token only"}}},
          .make = make_layerskip};
}

}  // namespace draftscope::engine
