// SPDX-License-Identifier: GPL-3.0-or-later
// The parts: masks, lengths, stops, shapes.
#include <draftscope/speculation/weight_format.h>

#include "catalogue/parameter_rows.h"
#include "catalogue/shipped_rows.h"

namespace draftscope::speculation {

namespace {

/// Parameters of DEL's three parts, which share one object.
std::vector<ParameterRow> del_parameters() {
  ParameterRow mode = choice(
      "mode", "paper", {"paper", "code", "repaired"},
      "paper: drafts up to d-max, ended by the threshold alone, layers alone cost; code: so too, but one "
      "token in the first round; repaired: γ is honoured, 0 = a plain step, the head counts as layers");
  mode.earlier_choices = {{"published", "code"}};
  return {std::move(mode),
          renamed(integer("d-max", "18", "1", longest_draft, "tokens", "longest draft"), "most"),
          number("omega", "0.95", "", "decay of the statistics a round"),
          integer("prompt-window", "32", "0", "64", "tokens",
                  "last prompt positions that the first statistics see; 0 = none"),
          unrecorded(layers("exits", "",
                            "exits that may be chosen, as 4-31, 4+8+12 or every-2; empty = all, or beside "
                            "mask=exit that exit"),
                     "every-1")};
}

/// A parameter of every mask, behind its own ones.
ParameterRow weights_parameter() {
  std::vector<std::string> formats{std::string(own_weights)};
  for (const WeightFormatRow& row : weight_formats())
    if (row.made_by != MadeBy::none) formats.emplace_back(row.name);
  return choice("weights", std::string(own_weights), std::move(formats),
                "what the draft computes on: as-held, the target's own; or a copy of them in fewer bits, of "
                "blocks of 32 (cpu; on a GPU q8_0 and q4_0), or in fp8, fp8_block, q4_k or int4 (cuda)");
}

constexpr const char* gamma_meaning = "speculation length; 0 decodes as vanilla does";

std::vector<PartRow> masks() {
  constexpr const char* own_keys =
      "and a draft without middle sublayers reads its own K/V behind its first token, which shadow tokens do "
      "not "
      "have";
  std::vector<PartRow> rows{
      {.kind = PartKind::mask,
       .name = "full",
       .summary = "every sublayer; drafts differ from the target by their weights",
       .source = "Zhao et al. 2024, QSpec; Tiwari et al. 2025, QuantSpec",
       .no_replay = "it drafts with every sublayer, on weights that shadow tokens were not computed with"},
      {.kind = PartKind::mask,
       .name = "exit",
       .summary = "the first E layers",
       .source = "Elhoushi et al. 2024, LayerSkip, §4.3",
       .parameters = {integer("exit", "L/4", "1", "L-1", "layers",
                              "E: the draft runs layers 0 to E-1, then the final norm and head")},
       .min_layers = 2},
      {.kind = PartKind::mask,
       .name = "skip-set",
       .summary = "all sublayers but a set from a file",
       .source = "Zhang et al. 2024, Draft & Verify, §3.3",
       .parameters =
           {text("skip-set", "", "file", "skip_layers.json as Draft & Verify and SWIFT publish it"),
            text("skip-set-name", "default", "", "which of the file's sets"),
            layers("skip-attention", "",
                   "instead of a file: layers without attention, as 3+5+8, 4-7, none, every-2, uniform, "
                   "first-4, middle-4, last-4, uniform-4, random-4 or random-4-7 (its seed)"),
            layers("skip-mlp", "", "instead of a file: layers without MLP")},
       .no_replay = "a draft without some middle sublayers reads its own K/V behind its first token, which "
                    "shadow tokens do not have"},
      {.kind = PartKind::mask,
       .name = "swift",
       .summary = "a set of sublayers that is searched for while decoding",
       .source = "Xia et al. 2025, SWIFT, §4.1",
       .parameters = {number("ratio", "0.45", "share",
                             "of the sublayers but those of the first and last layer that are skipped"),
                      integer("window", "32", "1", "64", "tokens",
                              "of the output that candidates are scored on"),
                      unrecorded(choice("scored-on", "latest", {"latest", "first"},
                                        "the window: the latest tokens of the output, or its first ones, as "
                                        "the public code has it"),
                                 "first"),
                      integer("every", "1", "1", max_rounds, "rounds", "from one candidate to the next"),
                      integer("gp-interval", "25", "0", max_rounds, "candidates",
                              "from one that the Gaussian process proposes to the next; 0 = none"),
                      number("max-score", "0.95", "share", "the search ends with a better candidate"),
                      integer("max-iterations", "1000", "0", "8000", "candidates", "the search ends after"),
                      integer("max-tolerance", "300", "0", max_rounds, "candidates",
                              "without a better one end the search"),
                      integer("search-seed", "1", "0", max_rounds, "", "of the random candidates")},
       .min_layers = 3,
       .min_layers_reason = "first and last are kept",
       .no_replay = std::string("it searches for the sublayers to skip by drafting, ") + own_keys},
      {.kind = PartKind::mask,
       .name = "clasp",
       .summary = "layers by dynamic programming from the last verified token",
       .source = "Chen et al. 2025, CLaSp, Alg. 1",
       .parameters = {integer("skip", "L/2", "0", "L", "layers", "M: whole layers that are skipped"),
                      integer("interval", "128", "1", max_rounds, "units",
                              "from one search to the next; one follows the prefill"),
                      unrecorded(choice("unit", "tokens", {"tokens", "verifications"},
                                        "what the interval counts: emitted tokens, or verifications"),
                                 "verifications"),
                      unrecorded(
                          choice("carry-set", "no", {"no", "yes"},
                                 "yes: set and count go on from request to request, of which the first "
                                 "alone is searched for after its prefill"),
                          "no")},
       .no_replay = "its layers follow from hidden states, and a draft without middle layers reads its own "
                    "K/V behind its first token, which shadow tokens do not have"},
      {.kind = PartKind::mask,
       .name = "knapspec",
       .summary = "sublayers by a knapsack of measured times",
       .source = "Cha et al. 2026, KnapSpec",
       .parameters = {integer("interval", "64", "1", max_rounds, "rounds",
                              "from one search to the next; one follows the prefill"),
                      integer("window", "8", "1", "64", "tokens",
                              "of the text's end that sets are compared on"),
                      number("min-similarity", "0.5", "cosine",
                             "a set whose states are less alike is given up")},
       .min_layers = 3,
       .min_layers_reason = "first and last are kept",
       .no_replay = "its sublayers follow from hidden states and times, and a draft without middle sublayers "
                    "reads its own K/V behind its first token, which shadow tokens do not have"},
      {.kind = PartKind::mask,
       .name = "conflayers",
       .summary = "layers whose outputs are less sure than those around",
       .source = "Amer et al. 2026, ConfLayers; defaults of its public code",
       .parameters =
           {number("ratio", "0.45", "share",
                   "of the layers between first and last that are skipped, at least"),
            integer("window", "32", "1", "64", "tokens", "of the output's end whose outputs are looked at"),
            integer("interval", "25", "1", max_rounds, "rounds",
                    "that a set is tried for before the next search"),
            number("max-score", "0.95", "share",
                   "the search ends with a set of which more of the draft is accepted, and more than "
                   "four tokens a round"),
            integer("max-iterations", "1000", "1", max_rounds, "searches", "the search ends after")},
       .min_layers = 3,
       .min_layers_reason = "first and last are kept",
       .no_replay = "its layers follow from hidden states, and a draft without middle layers reads its own "
                    "K/V behind its first token, which shadow tokens do not have"},
      {.kind = PartKind::mask,
       .name = "del",
       .summary = "the exit of the most tokens per loaded layer",
       .source = "Entezari Zarch et al. 2025, DEL, §4",
       .parameters = del_parameters(),
       .min_layers = 2}};
  for (PartRow& row : rows) row.parameters.push_back(weights_parameter());
  return rows;
}

std::vector<PartRow> lengths() {
  return {{.kind = PartKind::length,
           .name = "fixed",
           .summary = "the same length in every round",
           .parameters = {integer("gamma", "6", "0", longest_draft, "tokens", gamma_meaning)}},
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
                                  "longest")}},
          {.kind = PartKind::length,
           .name = "heuristic",
           .summary = "two longer after a full accept, else one shorter",
           .source = "transformers, num_assistant_tokens_schedule",
           .parameters = {integer("gamma", "6", "1", "63", "tokens", gamma_meaning),
                          choice("schedule", "kept", {"kept", "transient"},
                                 "kept from request to request, or transient")}},
          {.kind = PartKind::length,
           .name = "del",
           .summary = "the length of the most tokens per loaded layer at DEL's own exit",
           .source = "Entezari Zarch et al. 2025, DEL, §4",
           .parameters = del_parameters(),
           .min_layers = 2}};
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
           .parameters = {threshold}},
          {.kind = PartKind::stop,
           .name = "adaptive",
           .summary = "a draft-exit threshold that follows the acceptance rate",
           .source = "Zhang et al. 2024, Draft & Verify, eqs. 2-4",
           .parameters = {threshold, target, epsilon, beta1, beta2,
                          choice("rule", "paper", {"paper", "code", "del"},
                                 "paper, code (starts at 0, rests at the cap), or del (DEL's baseline DV)"),
                          carry}},
          {.kind = PartKind::stop,
           .name = "roc",
           .summary = "the threshold that would have told right from wrong draft tokens best so far",
           .source = "transformers, assistant_confidence_threshold with scikit-learn",
           .parameters = {with_default(threshold, "0.4")}},
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
           .no_replay = "it goes by the entropy of the draft's distributions, which no recording has"},
          {.kind = PartKind::stop,
           .name = "del",
           .summary = "between the mean confidences of right and wrong shadow tokens",
           .source = "Entezari Zarch et al. 2025, DEL, §4",
           .parameters = del_parameters(),
           .min_layers = 2}};
}

std::vector<PartRow> shapes() {
  return {
      {.kind = PartKind::shape,
       .name = "chain",
       .summary = "one token a step",
       .parameters = {unrecorded(choice("verify", "all-layers", {"all-layers", "above-exit"},
                                        "all-layers, or above-exit: keep the draft's exit states and run the "
                                        "layers below E for "
                                        "the last draft token only, as LayerSkip does"),
                                 "all-layers"),
                      acceptance_parameter()}},
      {.kind = PartKind::shape,
       .name = "tree",
       .summary = "siblings beside the first token of a step, the more the less confident",
       .source = "Xia et al. 2025, SWIFT, §4.2",
       .parameters = {choice("widths", "paper", {"paper", "greedy-code"},
                             "1, 3, 5, 10 above 0.95, 0.8, 0.5, 0; greedy-code: 3, 5, 8, 10")},
       .no_replay = "it drafts siblings, whose tokens and ranks shadow tokens do not hold"}};
}

}  // namespace

std::vector<PartRow> shipped_parts() {
  std::vector<PartRow> all;
  for (std::vector<PartRow>& kind : std::array{masks(), lengths(), stops(), shapes()})
    for (PartRow& row : kind) all.push_back(std::move(row));
  return all;
}

}  // namespace draftscope::speculation
