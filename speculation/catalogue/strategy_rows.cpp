// SPDX-License-Identifier: GPL-3.0-or-later
// The strategies: the papers' as mixes of parts, any other mix, and those that no part of the target drafts.
#include "catalogue/parameter_rows.h"
#include "catalogue/shipped_rows.h"

namespace draftscope::speculation {

namespace {

StrategyRow vanilla() {
  return {.name = "vanilla",
          .summary = "one target forward a token; the baseline",
          .source = "autoregressive decoding",
          .has_guard = false,
          .replay_needs = ReplayNeeds::texts};
}

std::vector<StrategyRow> presets() {
  return {{.name = "layerskip",
           .summary = "drafts with the first E layers, a fixed number of tokens per round",
           .source = "Elhoushi et al. 2024, LayerSkip, §4.3",
           .parts = {"exit", "fixed", "none", "chain"},
           .defaults = {{"verify", "above-exit"}}},
          {.name = "fs",
           .summary = "layerskip with a length that grows on a full accept and shrinks otherwise",
           .source = "DEL's baseline FSM (Entezari Zarch et al. 2025)",
           .parts = {"exit", "fs", "none", "chain"},
           .defaults = {{"verify", "above-exit"}}},
          {.name = "dv",
           .summary = "layerskip with Draft & Verify's adaptive threshold",
           .source = "DEL's baseline DV (Entezari Zarch et al. 2025)",
           .parts = {"exit", "fixed", "adaptive", "chain"},
           .defaults = {{"gamma", "18"}, {"target", "0.8"}, {"rule", "del"}, {"verify", "above-exit"}}},
          {.name = "draft-verify",
           .summary = "skips a set of sublayers found before; adaptive draft-exit threshold",
           .source = "Zhang et al. 2024, Draft & Verify (Self-SD)",
           .parts = {"skip-set", "fixed", "adaptive", "chain"},
           .defaults = {{"gamma", "12"}}},
          {.name = "swift",
           .summary = "searches the sublayers to skip while it decodes; early stop, token tree",
           .source = "Xia et al. 2025, SWIFT",
           .parts = {"swift", "fixed", "threshold", "tree"},
           .defaults = {{"gamma", "25"}, {"threshold", "0.8"}}},
          {.name = "clasp",
           .summary = "chooses the layers to skip by dynamic programming over hidden states",
           .source = "Chen et al. 2025, CLaSp",
           .parts = {"clasp", "fixed", "threshold", "chain"},
           .defaults = {{"gamma", "8"}, {"threshold", "0.7"}}},
          {.name = "knapspec",
           .summary = "chooses the sublayers to skip by a knapsack of their measured times",
           .source = "Cha et al. 2026, KnapSpec",
           .parts = {"knapspec", "fixed", "threshold", "chain"},
           .defaults = {{"gamma", "4"}, {"threshold", "0.7"}}},
          {.name = "conflayers",
           .summary = "skips layers whose outputs are less sure than those around; early stop, token tree",
           .source = "Amer et al. 2026, ConfLayers",
           .parts = {"conflayers", "fixed", "threshold", "tree"},
           .defaults = {{"gamma", "25"}, {"threshold", "0.8"}}},
          {.name = "del",
           .summary = "chooses exit, length and threshold from what every layer would have drafted",
           .source = "Entezari Zarch et al. 2025, DEL",
           .parts = {"del", "del", "del", "chain"},
           .defaults = {{"verify", "above-exit"}}},
          {.name = "quantised",
           .summary = "drafts with all of the model on a copy of its weights in fewer bits",
           .source = "Zhao et al. 2024, QSpec; Tiwari et al. 2025, QuantSpec",
           .parts = {"full", "fixed", "none", "chain"},
           .defaults = {{"gamma", "5"}, {"weights", "q4_0"}}}};
}

StrategyRow mix(const StrategyCatalogue& parts) {
  StrategyRow row{.name = "mix",
                  .summary =
                      "any parts of the others together, with those parts' parameters; beside mask=exit, "
                      "del's length and stop are those of that exit; beside another mask, those of the "
                      "exit that del would choose, learnt up to each round's first rejected draft token",
                  .parts = {"exit", "fixed", "none", "chain"},
                  .chooses_parts = true};
  for (std::size_t kind = 0; kind < part_kind_count; ++kind) {
    const auto which = static_cast<PartKind>(kind);
    std::string names;
    for (const std::string& name : parts.part_names(which)) names += (names.empty() ? "" : ", ") + name;
    row.parameters.push_back(choice(std::string(part_kind_name(which)), row.parts[kind],
                                    parts.part_names(which), "one of: " + names));
  }
  return row;
}

StrategyRow two_model() {
  return {.name = "two-model",
          .summary = "another, smaller model of the same vocabulary drafts",
          .source = "Leviathan et al. 2023; Chen et al. 2023",
          .parameters = {text("model", "", "folder", "the draft's checkpoint, as --model takes it"),
                         integer("gamma", "5", "0", longest_draft, "tokens",
                                 "speculation length; transformers 5: 20"),
                         choice("schedule", "constant", {"constant", "heuristic", "transient"},
                                "constant; heuristic: 2 longer after a full accept, else 1 shorter; "
                                "transient: that, anew for each request"),
                         number("threshold", "0", "probability",
                                "a draft token of lower confidence is the round's last; 0 = none; "
                                "transformers 5: 0.4"),
                         choice("stop", "threshold", {"threshold", "roc"},
                                "threshold: it stays; roc: it follows right and wrong draft tokens, as "
                                "transformers has it with scikit-learn"),
                         acceptance_parameter()},
          .replay_needs = ReplayNeeds::impossible,
          .no_replay = "another model drafts; its run lengths need a draft from every start of the text"};
}

constexpr const char* follows_from_the_text =
    "it drafts no prefix of the model's layers; its guesses follow from the text (replay_lookup.h)";

StrategyRow prompt_lookup() {
  return {.name = "prompt-lookup",
          .summary = "guesses that what followed the last tokens before, in prompt or output, follows again",
          .source = "Saxena 2023, Prompt Lookup Decoding; transformers, PromptLookupCandidateGenerator",
          .parameters =
              {integer("ngram", "3", "1", "16", "tokens",
                       "the longest end of the text that is looked up; transformers: 2"),
               integer("smallest-ngram", "1", "1", "ngram", "tokens",
                       "the shortest, tried when no longer one is found"),
               integer("length", "10", "1", longest_draft, "tokens", "guesses a round"),
               choice("match", "leftmost", {"leftmost", "latest", "longest"},
                      "which occurrence of an n-gram: leftmost, latest, or longest: the leftmost of the "
                      "longest end of the text, of smallest-ngram tokens or more, that occurred before, "
                      "whatever ngram says"),
               choice("reading", "published", {"published", "transformers"},
                      "published: only continuations of the full length, and token 100 as the one guess "
                      "where nothing matches; transformers: shorter continuations too, ended before an "
                      "end-of-text token, and no guess where nothing matches")},
          .replay_needs = ReplayNeeds::texts,
          .no_replay = follows_from_the_text};
}

StrategyRow suffix_decoding() {
  return {
      .name = "suffix-decoding",
      .summary = "guesses what followed the longest ends of the text most often, the longer the end the more",
      .source =
          "Oliaro et al. 2025, SuffixDecoding; defaults of its public code. Hu et al. 2024, SAM Decoding",
      .parameters =
          {ParameterRow{.name = "alpha",
                        .default_value = "1",
                        .unit = "tokens per token",
                        .meaning = "α: guesses a token of the end that matches",
                        .type = ParameterType::number,
                        .min = "0",
                        .max = "16"},
           integer("length", "24", "1", longest_draft, "tokens", "guesses a round, at most"),
           number("min-probability", "0.1", "probability",
                  "of a guess, by counts: the product of its tokens' shares of what followed"),
           integer("depth", "24", "1", "64", "tokens", "the longest end of the text that is looked up"),
           choice("shape", "chain", {"chain", "tree"},
                  "chain: the most frequent continuation; tree: several, by falling probability"),
           choice("across", "requests", {"requests", "no"},
                  "requests: the outputs of earlier requests are looked through, too; no: the request's "
                  "own text alone"),
           integer("memory", "65536", "1024", max_rounds, "tokens",
                   "of earlier outputs that are kept; when they are full, the older half goes")},
      .replay_needs = ReplayNeeds::texts,
      .no_replay = follows_from_the_text};
}

StrategyRow token_recycling() {
  return {
      .name = "token-recycling",
      .summary = "guesses a tree of the tokens that the target thought likely behind each token before",
      .source = "Luo et al. 2025, Token Recycling",
      .parameters =
          {integer("successors", "8", "1", "16", "tokens",
                   "k: kept behind each token of the vocabulary, the target's best there last time"),
           integer("nodes", "80", "1", longest_draft, "tokens",
                   "guesses a round: the likeliest of a tree whose r-th child (from 1) is right with "
                   "probability r^-1.75 / 2"),
           integer("depth", "6", "1", "64", "tokens", "of the tree"),
           choice("across", "requests", {"requests", "no"},
                  "requests: what is kept goes on from request to request; no: each starts with nothing")},
      .replay_needs = ReplayNeeds::impossible,
      .no_replay =
          "its guesses are the target's best tokens behind every verified row, rejected ones included, "
          "of which texts and recorded trees show a part"};
}

constexpr const char* guesses_of_the_target =
    "its guesses come from what the target said about earlier guesses, which is not recorded";

StrategyRow jacobi() {
  return {.name = "jacobi",
          .summary = "verifies a block of guesses; what it predicts is the next block",
          .source = "Santilli et al. 2023, Parallel Decoding, algorithm 2",
          .parameters = {integer("block", "3", "1", longest_draft, "tokens", "guesses a round"),
                         choice("rule", "prefix", {"prefix", "published"},
                                "prefix: keep every guess up to the first that is not the target's; "
                                "published: keep one token a round until a round changes nothing in the "
                                "block, which one more round then verifies as a whole")},
          .replay_needs = ReplayNeeds::impossible,
          .no_replay = guesses_of_the_target};
}

StrategyRow lookahead() {
  return {
      .name = "lookahead",
      .summary = "guesses n-grams that a window of parallel guesses ahead of the text has produced",
      .source = "Fu et al. 2024, Lookahead Decoding, algorithm 2; defaults of its public code's README",
      .parameters =
          {integer(
               "window", "7", "1", longest_draft, "tokens",
               "W: columns of the window, which takes (ngram - 1) * window rows of the 1024 that a "
               "verification may have; the public code's own defaults are window 60, ngram 8, guesses 60"),
           integer("ngram", "5", "3", "64", "tokens",
                   "N: a guess is N - 1 tokens; when all are accepted the round adds the target's own token "
                   "too, which the public code does not"),
           integer("guesses", "7", "1", longest_draft, "n-grams",
                   "G: kept for each token and guessed behind it, the latest first"),
           choice("pool-from-prompt", "no", {"no", "yes"},
                  "yes: the n-grams of prompt and output are guessed too")},
      .replay_needs = ReplayNeeds::impossible,
      .no_replay = guesses_of_the_target};
}

StrategyRow cascade() {
  return {
      .name = "cascade",
      .summary =
          "drafters of several strengths, parts of the target, and guesses from the text make one tree in "
          "turn; "
          "each step is the one that is expected to bring most for its time",
      .source = "Ning et al. 2025, CAS-Spec: DyTC's objective and estimates; see docs/methods.md",
      .parameters =
          {text("levels", "0.4+0.6", "",
                "the drafters: shares of whole layers that are left out, early exits as exit-8, weights as "
                "q4_0, "
                "or 0.4/q4_0; none = the text alone"),
           integer("gamma", "12", "1", "63", "tokens", "depth of the draft, at most"),
           integer("nodes", "32", "1", longest_draft, "tokens", "a draft of so many is not extended"),
           integer("step-length", "5", "1", "63", "tokens", "k: of one drafter's step, at most"),
           integer("siblings", "2", "0", "8", "tokens", "beside each one of a drafter, at most"),
           number("mass", "0.9", "probability", "siblings are added until they have it together"),
           integer("match", "4", "0", "16", "tokens",
                   "the longest end of the text that is looked up for guesses; 0 = none"),
           choice(
               "costs", "measured", {"measured", "by-weights"},
               "what a drafter's pass takes: as the clock says, with a round without a draft every 64; or by "
               "the weights that it reads"),
           number("decay", "0.7", "", "λ: weight of an acceptance rate so far"),
           integer("memory", "20", "1", "1024", "tokens", "H: latest ones that it moves to")},
      .replay_needs = ReplayNeeds::impossible,
      .no_replay = "it goes by what each drafter said of drafts that only it would have made"};
}

StrategyRow automatic() {
  return {
      .name = "auto",
      .summary =
          "each round the draft of the most expected tokens for its time: what followed in the text before, "
          "the model in fewer bits, an early exit, a skip set, or none; never slower than vanilla by more "
          "than a share",
      .source = "renewal reward by Dinkelbach 1967; see docs/methods.md",
      .parameters = {integer("max-gamma", "12", "1", "63", "tokens", "longest draft"),
                     number("loss", "0.02", "share",
                            "of vanilla's time that trials and wrong choices may cost"),
                     text("formats", "q8_0+q4_0+fp8", "",
                          "weights of drafts in fewer bits than the target's, as q8_0+q4_0 or none; those "
                          "that the backend cannot make are left out"),
                     layers("exits", "", "early exits that may draft, as 8+12; empty = none"),
                     layers("skip-attention", "", "a skip set that may draft: layers without attention"),
                     layers("skip-mlp", "", "and layers without MLP"),
                     text("policy", "none", "file",
                          "of tune or advise: the parts by which its best settings draft may draft, and what "
                          "was measured of them is expected"),
                     text("expected", "", "",
                          "of drafters, what is expected before they ran, as exit-8/0.71/0.35+q4_0/0.9/0.3: "
                          "acceptance of a token and cost of a draft step in vanilla rounds")},
      .has_guard = false,
      .replay_needs = ReplayNeeds::impossible,
      .no_replay = "it goes by what each round takes: simulate runs its rule with predicted times"};
}

StrategyRow tuned() {
  return {.name = "tuned",
          .summary = "the setting that draftscope tune found for this model",
          .parameters = {text("policy", "", "file", "what draftscope tune wrote")},
          .has_guard = false,
          .replay_needs = ReplayNeeds::impossible,
          .no_replay = "found a policy file, expected the strategy that it names"};
}

}  // namespace

std::vector<StrategyRow> shipped_strategies(const StrategyCatalogue& parts) {
  std::vector<StrategyRow> all{vanilla()};
  for (StrategyRow& row : presets()) all.push_back(std::move(row));
  for (StrategyRow& row :
       std::array{mix(parts), two_model(), prompt_lookup(), suffix_decoding(), token_recycling(), jacobi(),
                  lookahead(), cascade(), automatic(), tuned()})
    all.push_back(std::move(row));
  return all;
}

}  // namespace draftscope::speculation
