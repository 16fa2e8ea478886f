// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/parts/engine.h"

#include <draftscope/engine/skip_set.h>
#include <draftscope/speculation/skip_set_text.h>

#include "strategies/engine.h"
#include "strategies/parts/rule.h"

namespace draftscope::engine {

namespace {

using speculation::ModelShape;
using speculation::PartKind;
using speculation::StrategySpecification;

Result<void> add_full(const StrategySpecification& /*mix*/, const ModelShape& shape, Parts& parts) {
  parts.mask = std::make_shared<FixedMask>(speculation::SublayerMask(shape.n_layers), "fixed");
  return {};
}

Result<void> add_exit(const StrategySpecification& mix, const ModelShape& shape, Parts& parts) {
  parts.mask = std::make_shared<FixedMask>(
      speculation::SublayerMask::early_exit(shape.n_layers, mix.integer("exit")), "fixed");
  return {};
}

Result<void> add_skip_set(const StrategySpecification& mix, const ModelShape& shape, Parts& parts) {
  const std::string& file = mix.text("skip-set");
  const speculation::SkipSetText text{mix.text("skip-attention"), mix.text("skip-mlp")};
  const bool written_out = !text.attention.empty() || !text.mlp.empty();
  if (file.empty() && !written_out)
    return fail(
        "strategy {}: skip-set is missing, expected a file (skip_layers.json, or tune's result) or "
        "skip-attention and skip-mlp",
        mix.name());
  if (!file.empty() && written_out)
    return fail("strategy {}: both skip-set and skip-attention or skip-mlp are given, expected either",
                mix.name());
  auto mask = written_out ? speculation::parse_skip_set_text(text, shape.n_layers)
                          : read_skip_set(file, mix.text("skip-set-name"), shape.n_layers);
  if (!mask) return fail("strategy {}: {}", mix.name(), mask.error().message);
  parts.mask = std::make_shared<FixedMask>(*std::move(mask), "skip-set");
  return {};
}

Result<void> add_nothing(const StrategySpecification& /*mix*/, const ModelShape& /*shape*/,
                         Parts& /*parts*/) {
  return {};
}

Result<void> add_entropy(const StrategySpecification& mix, const ModelShape& /*shape*/, Parts& parts) {
  parts.entropy_weight = mix.number("entropy-weight");
  add_threshold_rule(mix, parts);
  return {};
}

Result<void> add_chain(const StrategySpecification& mix, const ModelShape& /*shape*/, Parts& parts) {
  if (mix.text("verify") == "above-exit") parts.verification = Verification::above_exit;
  if (mix.text("acceptance") == "block") parts.acceptance = Acceptance::by_block;
  return {};
}

/// Adds SWIFT's dynamic tree, where a step's confidence determines how many tokens it keeps.
Result<void> add_tree(const StrategySpecification& mix, const ModelShape& /*shape*/, Parts& parts) {
  parts.branches = speculation::widths_of(mix);
  return {};
}

}  // namespace

StrategyMakers engine_of_parts() {
  return {.parts = {{PartKind::mask, "full", add_full},
                    {PartKind::mask, "exit", add_exit},
                    {PartKind::mask, "skip-set", add_skip_set},
                    {PartKind::stop, "none", add_nothing},
                    {PartKind::stop, "entropy", add_entropy},
                    {PartKind::shape, "chain", add_chain},
                    {PartKind::shape, "tree", add_tree}}};
}

}  // namespace draftscope::engine
