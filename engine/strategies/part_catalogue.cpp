// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/part_catalogue.h"

#include <draftscope/engine/skip_set.h>

#include <algorithm>
#include <utility>

#include "strategies/clasp.h"
#include "strategies/lengths.h"
#include "strategies/masks.h"
#include "strategies/swift.h"
#include "strategies/thresholds.h"

namespace draftscope::engine {

namespace {

constexpr std::int32_t max_gamma = 63;  // and the root: the widest verification that is batch-invariant
constexpr std::int32_t max_rounds = 1 << 20;

template <typename Part>
std::shared_ptr<Part> learn(Mixing& mixing, std::shared_ptr<Part> part) {
  mixing.parts.learners.push_back(part);
  return part;
}

// ---- masks ----

Result<void> add_exit(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  if (shape.n_layers < 2)
    return fail("strategy {}: the model has {} layer, expected at least 2", parameters.strategy(),
                shape.n_layers);
  parameters.set_default("exit", std::max(1, shape.n_layers / 4));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t exit, parameters.integer("exit", 1, shape.n_layers - 1));
  mixing.parts.mask =
      std::make_shared<FixedMask>(speculation::SublayerMask::early_exit(shape.n_layers, exit), "fixed");
  return {};
}

Result<void> add_skip_set(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  const std::string& file = parameters.text("skip-set");
  const SkipSetText text{parameters.text("skip-attention"), parameters.text("skip-mlp")};
  const bool written_out = !text.attention.empty() || !text.mlp.empty();
  if (file.empty() && !written_out)
    return fail(
        "strategy {}: skip-set is missing, expected a file (skip_layers.json, or tune's result) or "
        "skip-attention and skip-mlp",
        parameters.strategy());
  if (!file.empty() && written_out)
    return fail("strategy {}: both skip-set and skip-attention or skip-mlp are given, expected either",
                parameters.strategy());
  auto mask = written_out ? parse_skip_set_text(text, shape.n_layers)
                          : read_skip_set(file, parameters.text("skip-set-name"), shape.n_layers);
  if (!mask) return fail("strategy {}: {}", parameters.strategy(), mask.error().message);
  mixing.parts.mask = std::make_shared<FixedMask>(*std::move(mask), "skip-set");
  return {};
}

Result<void> add_swift(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  if (shape.n_layers < 3)
    return fail("strategy {}: the model has {} layers, expected at least 3 (first and last are kept)",
                parameters.strategy(), shape.n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const double ratio, parameters.number("ratio", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t window, parameters.integer("window", 1, 64));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t every, parameters.integer("every", 1, max_rounds));
  SearchOptions search = swift_search(shape.n_layers, ratio);
  DRAFTSCOPE_TRY_ASSIGN(search.gp_interval, parameters.integer("gp-interval", 0, max_rounds));
  DRAFTSCOPE_TRY_ASSIGN(search.max_score, parameters.number("max-score", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(search.max_iterations, parameters.integer("max-iterations", 0, 8000));
  DRAFTSCOPE_TRY_ASSIGN(search.max_tolerance, parameters.integer("max-tolerance", 0, max_rounds));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t seed, parameters.integer("search-seed", 0, max_rounds));
  search.seed = static_cast<std::uint64_t>(seed);
  DRAFTSCOPE_TRY_ASSIGN(LayerSetSearch started, LayerSetSearch::create(search));
  mixing.parts.mask =
      learn(mixing, std::make_shared<SwiftMask>(std::move(started), SwiftMask::Options{window, every}));
  return {};
}

Result<void> add_clasp(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  parameters.set_default("skip", shape.n_layers / 2);
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t skip, parameters.integer("skip", 0, shape.n_layers));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t interval, parameters.integer("interval", 1, max_rounds));
  mixing.parts.mask =
      learn(mixing, std::make_shared<ClaspMask>(ClaspMask::Options{shape.n_layers, skip, interval}));
  return {};
}

/// DEL's three parts share one object.
Result<std::shared_ptr<Del>> shared_del(Parameters& parameters, const speculation::ModelShape& shape,
                                        Mixing& mixing) {
  if (mixing.del != nullptr) return mixing.del;
  if (shape.n_layers < 2)
    return fail("strategy {}: the model has {} layer, expected at least 2", parameters.strategy(),
                shape.n_layers);
  Del::Options options;
  DRAFTSCOPE_TRY_ASSIGN(const std::string mode, parameters.one_of("mode", {"repaired", "published"}));
  options.mode = mode == "published" ? Del::Mode::published : Del::Mode::repaired;
  DRAFTSCOPE_TRY_ASSIGN(options.most, parameters.integer("most", 1, max_gamma));
  DRAFTSCOPE_TRY_ASSIGN(options.omega, parameters.number("omega", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.prompt_window, parameters.integer("prompt-window", 0, 64));
  options.drafts = mixing.parts.mask == nullptr;  // a mix gets its mask first
  mixing.del = learn(mixing, std::make_shared<Del>(shape, options));
  return mixing.del;
}

Result<void> add_del_mask(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(mixing.parts.mask, shared_del(parameters, shape, mixing));
  return {};
}

// ---- lengths ----

Result<void> add_fixed_length(Parameters& parameters, const speculation::ModelShape& /*shape*/,
                              Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t gamma, parameters.integer("gamma", 0, max_gamma));
  mixing.parts.length = std::make_shared<FixedLength>(gamma);
  return {};
}

Result<void> add_finite_state(Parameters& parameters, const speculation::ModelShape& /*shape*/,
                              Mixing& mixing) {
  FiniteStateLength::Options options;
  DRAFTSCOPE_TRY_ASSIGN(options.least, parameters.integer("least", 0, max_gamma));
  DRAFTSCOPE_TRY_ASSIGN(options.most, parameters.integer("longest", options.least, max_gamma));
  DRAFTSCOPE_TRY_ASSIGN(options.start, parameters.integer("gamma", options.least, options.most));
  mixing.parts.length = learn(mixing, std::make_shared<FiniteStateLength>(options));
  return {};
}

Result<void> add_heuristic(Parameters& parameters, const speculation::ModelShape& /*shape*/, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t gamma, parameters.integer("gamma", 1, max_gamma));
  DRAFTSCOPE_TRY_ASSIGN(const std::string kept, parameters.one_of("schedule", {"kept", "transient"}));
  mixing.parts.length = learn(mixing, std::make_shared<HeuristicLength>(gamma, kept == "transient"));
  return {};
}

Result<void> add_del_length(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(mixing.parts.length, shared_del(parameters, shape, mixing));
  return {};
}

// ---- stops ----

Result<void> add_no_stop(Parameters& /*parameters*/, const speculation::ModelShape& /*shape*/,
                         Mixing& /*mixing*/) {
  return {};
}

Result<void> add_threshold(Parameters& parameters, const speculation::ModelShape& /*shape*/, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(const double threshold, parameters.number("threshold", 0.0, 1.0));
  mixing.parts.threshold = std::make_shared<FixedThreshold>(threshold);
  return {};
}

Result<void> add_adaptive(Parameters& parameters, const speculation::ModelShape& /*shape*/, Mixing& mixing) {
  AdaptiveThreshold::Options options;
  DRAFTSCOPE_TRY_ASSIGN(const std::string rule, parameters.one_of("rule", {"paper", "code", "del"}));
  options.rule = rule == "paper"  ? AdaptiveThreshold::Rule::paper
                 : rule == "code" ? AdaptiveThreshold::Rule::code
                                  : AdaptiveThreshold::Rule::del;
  DRAFTSCOPE_TRY_ASSIGN(options.start, parameters.number("threshold", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.target, parameters.number("target", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.epsilon, parameters.number("epsilon", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.beta1, parameters.number("beta1", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(options.beta2, parameters.number("beta2", 0.0, 1.0));
  mixing.parts.threshold = learn(mixing, std::make_shared<AdaptiveThreshold>(options));
  return {};
}

Result<void> add_del_stop(Parameters& parameters, const speculation::ModelShape& shape, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(mixing.parts.threshold, shared_del(parameters, shape, mixing));
  return {};
}

// ---- shapes ----

Result<void> add_chain(Parameters& parameters, const speculation::ModelShape& /*shape*/, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string verify, parameters.one_of("verify", {"all-layers", "above-exit"}));
  if (verify == "above-exit") mixing.parts.verification = Verification::above_exit;
  return {};
}

/// SWIFT's dynamic tree (docs/methods.md, SWIFT): confidence → siblings.
Result<void> add_tree(Parameters& parameters, const speculation::ModelShape& /*shape*/, Mixing& mixing) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string widths, parameters.one_of("widths", {"paper", "greedy-code"}));
  if (widths == "paper")
    mixing.parts.branches = {{0.95, 1}, {0.8, 3}, {0.5, 5}, {-1.0, 10}};
  else
    mixing.parts.branches = {{0.95, 3}, {0.8, 5}, {0.5, 8}, {-1.0, 10}};
  return {};
}

std::vector<PartEntry> make_entries() {
  const ParameterDescription gamma{"gamma", "6", "tokens", "speculation length; 0 decodes as vanilla does"};
  const ParameterDescription threshold{"threshold", "0.6", "probability",
                                       "a draft token of lower confidence is the round's last"};
  const std::vector<ParameterDescription> del_parameters{
      {"mode", "repaired", "",
       "repaired: γ is honoured, 0 = a plain step, the head counts as layers, statistics before the first "
       "round; "
       "published: as the code does"},
      {"most", "18", "tokens", "longest draft"},
      {"omega", "0.95", "", "decay of the statistics a round"},
      {"prompt-window", "32", "tokens", "last prompt positions that the first statistics see; 0 = none"}};
  std::vector<PartEntry> entries;
  const auto part = [&](PartKind kind, StrategyDescription description,
                        Result<void> (*add)(Parameters&, const speculation::ModelShape&, Mixing&)) {
    entries.push_back({kind, std::move(description), add});
  };
  part(PartKind::mask,
       {"exit",
        "the first E layers",
        "Elhoushi et al. 2024, LayerSkip, §4.3",
        {{"exit", "L/4", "layers", "E: the draft runs layers 0 to E-1, then the final norm and head"}}},
       add_exit);
  part(PartKind::mask,
       {"skip-set",
        "all sublayers but a set from a file",
        "Zhang et al. 2024, Draft & Verify, §3.3",
        {{"skip-set", "", "file", "skip_layers.json as Draft & Verify and SWIFT publish it"},
         {"skip-set-name", "default", "", "which of the file's sets"},
         {"skip-attention", "", "layers", "instead of a file: layers without attention, as 3+5+8, or none"},
         {"skip-mlp", "", "layers", "instead of a file: layers without MLP"}}},
       add_skip_set);
  part(
      PartKind::mask,
      {"swift",
       "a set of sublayers that is searched for while decoding",
       "Xia et al. 2025, SWIFT, §4.1",
       {{"ratio", "0.45", "share", "of the sublayers but those of the first and last layer that are skipped"},
        {"window", "32", "tokens", "of the output that candidates are scored on"},
        {"every", "1", "rounds", "from one candidate to the next"},
        {"gp-interval", "25", "candidates",
         "from one that the Gaussian process proposes to the next; 0 = none"},
        {"max-score", "0.95", "share", "the search ends with a better candidate"},
        {"max-iterations", "1000", "candidates", "the search ends after"},
        {"max-tolerance", "300", "candidates", "without a better one end the search"},
        {"search-seed", "1", "", "of the random candidates"}}},
      add_swift);
  part(PartKind::mask,
       {"clasp",
        "layers by dynamic programming from the last verified token",
        "Chen et al. 2025, CLaSp, Alg. 1",
        {{"skip", "L/2", "layers", "M: whole layers that are skipped"},
         {"interval", "128", "verifications", "from one search to the next; one follows the prefill"}}},
       add_clasp);
  part(PartKind::mask,
       {"del", "the exit of the most tokens per loaded layer", "Entezari Zarch et al. 2025, DEL, §4",
        del_parameters},
       add_del_mask);

  part(PartKind::length, {"fixed", "the same length in every round", "", {gamma}}, add_fixed_length);
  part(PartKind::length,
       {"fs",
        "one longer after a full accept, else one shorter",
        "DEL's baseline FSM",
        {gamma,
         {"least", "1", "tokens", "never shorter; 0 as published"},
         {"longest", "63", "tokens", "never longer; the publication has no bound"}}},
       add_finite_state);
  part(PartKind::length,
       {"heuristic",
        "two longer after a full accept, else one shorter",
        "transformers, num_assistant_tokens_schedule",
        {gamma, {"schedule", "kept", "", "kept from request to request, or transient"}}},
       add_heuristic);
  part(PartKind::length,
       {"del", "the length of the most tokens per loaded layer at DEL's own exit",
        "Entezari Zarch et al. 2025, DEL, §4", del_parameters},
       add_del_length);

  part(PartKind::stop, {"none", "drafts the whole length", "", {}}, add_no_stop);
  part(PartKind::stop, {"threshold", "a fixed draft-exit threshold", "", {threshold}}, add_threshold);
  part(PartKind::stop,
       {"adaptive",
        "a draft-exit threshold that follows the acceptance rate",
        "Zhang et al. 2024, Draft & Verify, eqs. 2-4",
        {threshold,
         {"target", "0.9", "share", "α: the acceptance rate it aims at"},
         {"epsilon", "0.01", "", "ε: step of the threshold"},
         {"beta1", "0.5", "", "β1: weight of the acceptance rate so far"},
         {"beta2", "0.9", "", "β2: weight of the threshold so far"},
         {"rule", "paper", "", "paper, code (starts at 0, rests at the cap), or del (DEL's baseline DV)"}}},
       add_adaptive);
  part(PartKind::stop,
       {"del", "between the mean confidences of right and wrong shadow tokens",
        "Entezari Zarch et al. 2025, DEL, §4", del_parameters},
       add_del_stop);

  part(PartKind::shape,
       {"chain",
        "one token a step",
        "",
        {{"verify", "all-layers", "",
          "all-layers, or above-exit: keep the draft's exit states and run the layers below E for the last "
          "draft token only"}}},
       add_chain);
  part(PartKind::shape,
       {"tree",
        "siblings beside the first token of a step, the more the less confident",
        "Xia et al. 2025, SWIFT, §4.2",
        {{"widths", "paper", "", "1, 3, 5, 10 above 0.95, 0.8, 0.5, 0; greedy-code: 3, 5, 8, 10"}}},
       add_tree);
  return entries;
}

}  // namespace

std::string_view part_kind_name(PartKind kind) {
  switch (kind) {
    case PartKind::mask:
      return "mask";
    case PartKind::length:
      return "length";
    case PartKind::stop:
      return "stop";
    case PartKind::shape:
      break;
  }
  return "shape";
}

std::span<const PartEntry> part_entries() {
  static const std::vector<PartEntry> entries = make_entries();
  return entries;
}

const PartEntry* find_part(PartKind kind, std::string_view name) {
  for (const PartEntry& entry : part_entries())
    if (entry.kind == kind && entry.description.name == name) return &entry;
  return nullptr;
}

}  // namespace draftscope::engine
