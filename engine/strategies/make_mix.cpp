// SPDX-License-Identifier: GPL-3.0-or-later
// From the parts that a specification names to objects that decode.
#include <draftscope/engine/skip_set.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <draftscope/speculation/skip_set_text.h>

#include <algorithm>
#include <array>
#include <utility>

#include "strategies/masks/clasp.h"
#include "strategies/masks/conflayers.h"
#include "strategies/masks/del.h"
#include "strategies/masks/fixed_mask.h"
#include "strategies/masks/knapspec.h"
#include "strategies/masks/swift.h"
#include "strategies/rule_parts.h"
#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

using speculation::ModelShape;
using speculation::PartKind;
using speculation::StrategySpecification;

/// A mix under construction.
struct Mixing {
  Parts parts;
  std::shared_ptr<Del> del;  ///< made by the first of its parts
};

template <typename Part>
std::shared_ptr<Part> learn(Mixing& mixing, std::shared_ptr<Part> part) {
  mixing.parts.learners.push_back(part);
  return part;
}

// ---- masks ----

Result<void> add_full(const StrategySpecification& /*mix*/, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.mask = std::make_shared<FixedMask>(speculation::SublayerMask(shape.n_layers), "fixed");
  return {};
}

Result<void> add_exit(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.mask = std::make_shared<FixedMask>(
      speculation::SublayerMask::early_exit(shape.n_layers, mix.integer("exit")), "fixed");
  return {};
}

Result<void> add_skip_set(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
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
  mixing.parts.mask = std::make_shared<FixedMask>(*std::move(mask), "skip-set");
  return {};
}

Result<void> add_swift(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  SearchOptions search = swift_search(shape.n_layers, mix.number("ratio"));
  search.gp_interval = mix.integer("gp-interval");
  search.max_score = mix.number("max-score");
  search.max_iterations = mix.integer("max-iterations");
  search.max_tolerance = mix.integer("max-tolerance");
  search.seed = static_cast<std::uint64_t>(mix.integer("search-seed"));
  DRAFTSCOPE_TRY_ASSIGN(LayerSetSearch started, LayerSetSearch::create(search));
  const SwiftMask::Options options{mix.integer("window"), mix.integer("every"),
                                   mix.text("scored-on") == "first"};
  mixing.parts.mask = learn(mixing, std::make_shared<SwiftMask>(std::move(started), options));
  return {};
}

Result<void> add_clasp(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.mask = learn(
      mixing, std::make_shared<ClaspMask>(ClaspMask::Options{.n_layers = shape.n_layers,
                                                             .skip = mix.integer("skip"),
                                                             .interval = mix.integer("interval"),
                                                             .counts_tokens = mix.text("unit") == "tokens",
                                                             .carries = mix.text("carry-set") == "yes"}));
  return {};
}

Result<void> add_knapspec(const StrategySpecification& mix, const ModelShape& /*shape*/, Mixing& mixing) {
  mixing.parts.mask = learn(mixing, std::make_shared<KnapspecMask>(KnapspecMask::Options{
                                        .interval = mix.integer("interval"),
                                        .window = mix.integer("window"),
                                        .search = {.min_similarity = mix.number("min-similarity")}}));
  return {};
}

Result<void> add_conflayers(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.mask =
      learn(mixing, std::make_shared<ConfLayersMask>(speculation::confidence_options(mix, shape.n_layers)));
  return {};
}

/// DEL's three parts share one object.
std::shared_ptr<Del> shared_del(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  if (mixing.del == nullptr)
    mixing.del = learn(mixing, std::make_shared<Del>(shape, speculation::del_options(mix)));
  return mixing.del;
}

Result<void> add_del_mask(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.mask = shared_del(mix, shape, mixing);
  return {};
}

// ---- lengths ----

Result<void> add_length_rule(const StrategySpecification& mix, const ModelShape& /*shape*/, Mixing& mixing) {
  if (const auto rule = speculation::length_rule(mix))
    mixing.parts.length = learn(mixing, std::make_shared<LengthByRule>(*rule));
  return {};
}

Result<void> add_del_length(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.length = shared_del(mix, shape, mixing);
  return {};
}

// ---- stops ----

Result<void> add_no_stop(const StrategySpecification& /*mix*/, const ModelShape& /*shape*/,
                         Mixing& /*mixing*/) {
  return {};
}

Result<void> add_threshold_rule(const StrategySpecification& mix, const ModelShape& /*shape*/,
                                Mixing& mixing) {
  if (const auto rule = speculation::threshold_rule(mix))
    mixing.parts.threshold = learn(mixing, std::make_shared<ThresholdByRule>(*rule));
  return {};
}

Result<void> add_entropy(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.entropy_weight = mix.number("entropy-weight");
  return add_threshold_rule(mix, shape, mixing);
}

Result<void> add_del_stop(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing) {
  mixing.parts.threshold = shared_del(mix, shape, mixing);
  return {};
}

// ---- shapes ----

Result<void> add_chain(const StrategySpecification& mix, const ModelShape& /*shape*/, Mixing& mixing) {
  if (mix.text("verify") == "above-exit") mixing.parts.verification = Verification::above_exit;
  if (mix.text("acceptance") == "block") mixing.parts.acceptance = Acceptance::by_block;
  return {};
}

/// SWIFT's dynamic tree: from a step's confidence to how many tokens it keeps.
Result<void> add_tree(const StrategySpecification& mix, const ModelShape& /*shape*/, Mixing& mixing) {
  if (mix.text("widths") == "paper")
    mixing.parts.branches = {{0.95, 1}, {0.8, 3}, {0.5, 5}, {-1.0, 10}};
  else
    mixing.parts.branches = {{0.95, 3}, {0.8, 5}, {0.5, 8}, {-1.0, 10}};
  return {};
}

struct PartMaker {
  PartKind kind;
  std::string_view name;
  Result<void> (*add)(const StrategySpecification& mix, const ModelShape& shape, Mixing& mixing);
};

constexpr std::array<PartMaker, 20> part_makers{{{PartKind::mask, "full", add_full},
                                                 {PartKind::mask, "exit", add_exit},
                                                 {PartKind::mask, "skip-set", add_skip_set},
                                                 {PartKind::mask, "swift", add_swift},
                                                 {PartKind::mask, "clasp", add_clasp},
                                                 {PartKind::mask, "knapspec", add_knapspec},
                                                 {PartKind::mask, "conflayers", add_conflayers},
                                                 {PartKind::mask, "del", add_del_mask},
                                                 {PartKind::length, "fixed", add_length_rule},
                                                 {PartKind::length, "fs", add_length_rule},
                                                 {PartKind::length, "heuristic", add_length_rule},
                                                 {PartKind::length, "del", add_del_length},
                                                 {PartKind::stop, "none", add_no_stop},
                                                 {PartKind::stop, "threshold", add_threshold_rule},
                                                 {PartKind::stop, "adaptive", add_threshold_rule},
                                                 {PartKind::stop, "roc", add_threshold_rule},
                                                 {PartKind::stop, "entropy", add_entropy},
                                                 {PartKind::stop, "del", add_del_stop},
                                                 {PartKind::shape, "chain", add_chain},
                                                 {PartKind::shape, "tree", add_tree}}};

}  // namespace

Result<std::unique_ptr<Strategy>> make_mix(const StrategySpecification& mix, const ModelShape& shape) {
  Mixing mixing;
  mixing.parts.weights = mix.draft_weights();
  for (std::size_t i = 0; i < speculation::part_kind_count; ++i) {
    const auto kind = static_cast<PartKind>(i);
    const auto maker = std::find_if(part_makers.begin(), part_makers.end(), [&](const PartMaker& candidate) {
      return candidate.kind == kind && candidate.name == mix.part(kind);
    });
    if (maker == part_makers.end())
      return fail("strategy {}: found {}={}, expected a part that the engine knows", mix.name(),
                  speculation::part_kind_name(kind), mix.part(kind));
    DRAFTSCOPE_TRY(maker->add(mix, shape, mixing));
  }
  return make_mixed(std::move(mixing.parts));
}

}  // namespace draftscope::engine
