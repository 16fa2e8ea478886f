// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that do not search: masks, lengths, stops and shapes.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include <array>

#include "strategies/parts/rule.h"
#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

DraftDescription all_layers(const StrategySpecification& /*mix*/, const ModelShape& shape) {
  return {"all layers", shape.n_layers + head_in_layers(shape)};
}

DraftDescription first_layers(const StrategySpecification& mix, const ModelShape& shape) {
  const std::int32_t exit = mix.integer("exit");
  return {exit == 1 ? "layer 0" : fmt::format("layers 0 to {}", exit - 1), exit + head_in_layers(shape)};
}

constexpr const char* gamma_meaning = "speculation length; 0 decodes as vanilla does";

std::optional<LengthRule> fixed(const StrategySpecification& mix) {
  return FixedLength(mix.integer("gamma"));
}

std::optional<LengthRule> finite_state(const StrategySpecification& mix) {
  return FiniteStateLength(
      {.start = mix.integer("gamma"), .min = mix.integer("min-gamma"), .max = mix.integer("max-gamma")});
}

std::optional<LengthRule> heuristic(const StrategySpecification& mix) {
  return HeuristicLength(
      {.start = mix.integer("gamma"), .is_transient = mix.text("schedule") == "transient"});
}

std::optional<ThresholdRule> fixed_threshold(const StrategySpecification& mix) {
  return FixedThreshold(mix.number("threshold"));
}

std::optional<ThresholdRule> roc_threshold(const StrategySpecification& mix) {
  return RocThreshold(mix.number("threshold"));
}

std::optional<ThresholdRule> adaptive_threshold(const StrategySpecification& mix) {
  using Rule = AdaptiveThreshold::Rule;
  const std::string& rule = mix.text("rule");
  return AdaptiveThreshold({.rule = rule == "paper"  ? Rule::paper
                                    : rule == "code" ? Rule::code
                                                     : Rule::del,
                            .start = mix.number("threshold"),
                            .target = mix.number("target"),
                            .epsilon = mix.number("epsilon"),
                            .beta1 = mix.number("beta1"),
                            .beta2 = mix.number("beta2"),
                            .carries = mix.text("carry") == "yes"});
}

std::span<const BranchWidth> tree_widths(const StrategySpecification& mix) {
  static constexpr std::array<BranchWidth, 4> paper{{{0.95, 1}, {0.8, 3}, {0.5, 5}, {-1.0, 10}}};
  static constexpr std::array<BranchWidth, 4> greedy_code{{{0.95, 3}, {0.8, 5}, {0.5, 8}, {-1.0, 10}}};
  return mix.text("widths") == "paper" ? paper : greedy_code;
}

std::vector<PartRow> masks() {
  return {
      {.kind = PartKind::mask,
       .name = "full",
       .summary = "every sublayer; drafts differ from the target by their weights",
       .source = "Zhao et al. 2024, QSpec; Tiwari et al. 2025, QuantSpec",
       .no_replay = "it drafts with every sublayer, on weights that shadow tokens were not computed with",
       .layers = MaskLayers::all,
       .describe = all_layers},
      {.kind = PartKind::mask,
       .name = "exit",
       .summary = "the first E layers",
       .source = "Elhoushi et al. 2024, LayerSkip, §4.3",
       .parameters = {integer("exit", "L/4", "1", "L-1", "layers",
                              "E: the draft runs layers 0 to E-1, then the final norm and head")},
       .min_layers = 2,
       .layers = MaskLayers::below_exit,
       .describe = first_layers},
      {.kind = PartKind::mask,
       .name = "skip-set",
       .summary = "all sublayers but a set from a file",
       .source = "Zhang et al. 2024, Draft & Verify, §3.3",
       .parameters = {text("skip-set", "", "file", "skip_layers.json as Draft & Verify and SWIFT publish it"),
                      text("skip-set-name", "default", "", "which of the file's sets"),
                      layers("skip-attention", "",
                             "instead of a file: layers without attention, as 3+5+8, 4-7, none, every-2, "
                             "uniform, "
                             "first-4, middle-4, last-4, uniform-4, random-4 or random-4-7 (its seed)"),
                      layers("skip-mlp", "", "instead of a file: layers without MLP")},
       .no_replay = reads_its_own_rows(),
       .layers = MaskLayers::beside_listed_set}};
}

std::vector<PartRow> lengths() {
  return {{.kind = PartKind::length,
           .name = "fixed",
           .summary = "the same length in every round",
           .parameters = {integer("gamma", "6", "0", longest_draft, "tokens", gamma_meaning)},
           .length_rule = fixed},
          {.kind = PartKind::length,
           .name = "fs",
           .summary = "one longer after a full accept, else one shorter",
           .source = "DEL's baseline FSM",
           .parameters = {integer("gamma", "6", "min-gamma", "max-gamma", "tokens", gamma_meaning),
                          renamed(integer("min-gamma", "1", "0", longest_draft, "tokens",
                                          "never shorter; 0 as published"),
                                  "least"),
                          renamed(integer("max-gamma", "63", "min-gamma", longest_draft, "tokens",
                                          "never longer; the publication has no bound"),
                                  "longest")},
           .length_rule = finite_state},
          {.kind = PartKind::length,
           .name = "heuristic",
           .summary = "two longer after a full accept, else one shorter",
           .source = "transformers, num_assistant_tokens_schedule",
           .parameters = {integer("gamma", "6", "1", "63", "tokens", gamma_meaning),
                          choice("schedule", "kept", {"kept", "transient"},
                                 "kept from request to request, or transient")},
           .length_rule = heuristic}};
}

std::vector<PartRow> stops() {
  const ParameterRow threshold =
      number("threshold", "0.6", "probability", "a draft token of lower confidence is the round's last");
  const ParameterRow target = number("target", "0.9", "share", "α: the acceptance rate it aims at");
  const ParameterRow epsilon = number("epsilon", "0.01", "", "ε: step of the threshold");
  const ParameterRow beta1 = number("beta1", "0.5", "", "β1: weight of the acceptance rate so far");
  const ParameterRow beta2 = number("beta2", "0.9", "", "β2: weight of the threshold so far");
  const ParameterRow carry =
      choice("carry", "yes", {"yes", "no"},
             "yes: the threshold goes on from request to request; no: each starts anew");

  return {{.kind = PartKind::stop, .name = "none", .summary = "drafts the whole length"},
          {.kind = PartKind::stop,
           .name = "threshold",
           .summary = "a fixed draft-exit threshold",
           .parameters = {threshold},
           .threshold_rule = fixed_threshold},
          {.kind = PartKind::stop,
           .name = "adaptive",
           .summary = "a draft-exit threshold that follows the acceptance rate",
           .source = "Zhang et al. 2024, Draft & Verify, eqs. 2-4",
           .parameters = {threshold, target, epsilon, beta1, beta2,
                          choice("rule", "paper", {"paper", "code", "del"},
                                 "paper, code (starts at 0, rests at the cap), or del (DEL's baseline DV)"),
                          carry},
           .threshold_rule = adaptive_threshold},
          {.kind = PartKind::stop,
           .name = "roc",
           .summary = "the threshold that would have told right from wrong draft tokens best so far",
           .source = "transformers, assistant_confidence_threshold with scikit-learn",
           .parameters = {with_default(threshold, "0.4")},
           .threshold_rule = roc_threshold},
          {.kind = PartKind::stop,
           .name = "entropy",
           .summary = "a bound on the acceptance by the draft's entropy below a threshold that follows the "
                      "acceptance rate",
           .source = "Agrawal et al. 2024, AdaEDL",
           .parameters = {with_meaning(threshold, "a draft token whose bound is lower is the round's last"),
                          number("entropy-weight", "0.2", "",
                                 "w of the bound 1 - sqrt(w * entropy), the paper's γ"),
                          target, epsilon, beta1, beta2,
                          choice("rule", "paper", {"paper", "code", "del"},
                                 "how the threshold follows, as in stop=adaptive"),
                          carry},
           .no_replay = "it goes by the entropy of the draft's distributions, which no recording has",
           .threshold_rule = adaptive_threshold}};
}

std::vector<PartRow> shapes() {
  return {
      {.kind = PartKind::shape,
       .name = "chain",
       .summary = "one token a step",
       .parameters = {unrecorded(choice("verify", "all-layers", {"all-layers", "above-exit"},
                                        "all-layers, or above-exit: keep the draft's exit states and run the "
                                        "layers below E for the last draft token only, as LayerSkip does"),
                                 "all-layers"),
                      acceptance_parameter()}},
      {.kind = PartKind::shape,
       .name = "tree",
       .summary = "siblings beside the first token of a step, the more the less confident",
       .source = "Xia et al. 2025, SWIFT, §4.2",
       .parameters = {choice("widths", "paper", {"paper", "greedy-code"},
                             "1, 3, 5, 10 above 0.95, 0.8, 0.5, 0; greedy-code: 3, 5, 8, 10")},
       .widths = tree_widths}};
}

}  // namespace

StrategyRows row_of_parts() {
  StrategyRows rows;
  for (const std::vector<PartRow>& kind : {masks(), lengths(), stops(), shapes()})
    rows.parts.insert(rows.parts.end(), kind.begin(), kind.end());
  return rows;
}

}  // namespace draftscope::speculation
