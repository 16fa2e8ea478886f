// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/speculation/rules/rules_of.h>

#include <algorithm>

namespace draftscope::speculation {

namespace {

LengthRule length_of_two_models(const StrategySpecification& strategy) {
  const std::int32_t gamma = strategy.integer("gamma");
  const std::string& schedule = strategy.text("schedule");
  if (schedule == "constant") return FixedLength(gamma);
  return HeuristicLength({.start = std::max(gamma, 1), .is_transient = schedule == "transient"});
}

std::optional<ThresholdRule> threshold_of_two_models(const StrategySpecification& strategy) {
  const double threshold = strategy.number("threshold");
  if (strategy.text("stop") == "roc") return RocThreshold(threshold);
  if (threshold > 0.0) return FixedThreshold(threshold);
  return std::nullopt;
}

}  // namespace

std::optional<LengthRule> length_rule(const StrategySpecification& mix) {
  if (mix.name() == "two-model") return length_of_two_models(mix);
  const std::string& part = mix.part(PartKind::length);
  if (part == "fixed") return FixedLength(mix.integer("gamma"));
  if (part == "fs")
    return FiniteStateLength(
        {.start = mix.integer("gamma"), .min = mix.integer("min-gamma"), .max = mix.integer("max-gamma")});
  if (part == "heuristic")
    return HeuristicLength(
        {.start = mix.integer("gamma"), .is_transient = mix.text("schedule") == "transient"});
  return std::nullopt;
}

std::optional<ThresholdRule> threshold_rule(const StrategySpecification& mix) {
  if (mix.name() == "two-model") return threshold_of_two_models(mix);
  const std::string& part = mix.part(PartKind::stop);
  if (part == "threshold") return FixedThreshold(mix.number("threshold"));
  if (part == "roc") return RocThreshold(mix.number("threshold"));
  if (part != "adaptive" && part != "entropy") return std::nullopt;
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

std::vector<std::int32_t> listed_layers(std::string_view text) {
  std::vector<std::int32_t> layers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+'), text.size());
    if (const auto layer = parse_number<std::int32_t>(text.substr(0, end))) layers.push_back(*layer);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return layers;
}

std::int32_t swift_skipped_sublayers(std::int32_t n_layers, double ratio) {
  // In this order, as the public code has it: rounding decides where the product is near an integer.
  return static_cast<std::int32_t>((static_cast<double>(n_layers) - 2.0) * 2.0 * ratio);
}

ConfidenceSearches::Options confidence_options(const StrategySpecification& mix, std::int32_t n_layers) {
  return {.n_layers = n_layers,
          .ratio = mix.number("ratio"),
          .window = mix.integer("window"),
          .interval = mix.integer("interval"),
          .max_score = mix.number("max-score"),
          .max_searches = mix.integer("max-iterations")};
}

DelRule::Options del_options(const StrategySpecification& mix) {
  using Mode = DelRule::Mode;
  const std::string& mode = mix.text("mode");
  DelRule::Options options{.mode = mode == "paper"  ? Mode::paper
                                   : mode == "code" ? Mode::code
                                                    : Mode::repaired,
                           .max = mix.integer("d-max"),
                           .omega = mix.number("omega"),
                           .prompt_window = mix.integer("prompt-window"),
                           .exits = listed_layers(mix.text("exits")),
                           .exits_draft = mix.part(PartKind::mask) == "del"};
  // Where another part chooses the exit, that exit's length and threshold are asked for.
  if (mix.part(PartKind::mask) == "exit" && options.exits.empty()) {
    options.exits = {mix.integer("exit")};
    options.exits_draft = true;
  }
  return options;
}

bool has_del(const StrategySpecification& mix) {
  return std::find(mix.parts().begin(), mix.parts().end(), "del") != mix.parts().end();
}

LookupOptions lookup_options(const StrategySpecification& prompt_lookup) {
  using Match = LookupOptions::Match;
  const std::string& match = prompt_lookup.text("match");
  return {.ngram = prompt_lookup.integer("ngram"),
          .min_ngram = prompt_lookup.integer("smallest-ngram"),
          .length = prompt_lookup.integer("length"),
          .match = match == "leftmost" ? Match::leftmost
                   : match == "latest" ? Match::latest
                                       : Match::longest,
          .is_published = prompt_lookup.text("reading") == "published"};
}

SuffixOptions suffix_options(const StrategySpecification& suffix_decoding) {
  return {.depth = suffix_decoding.integer("depth"),
          .alpha = suffix_decoding.number("alpha"),
          .length = suffix_decoding.integer("length"),
          .min_probability = suffix_decoding.number("min-probability"),
          .is_tree = suffix_decoding.text("shape") == "tree",
          .across_requests = suffix_decoding.text("across") == "requests",
          .memory = static_cast<std::size_t>(suffix_decoding.integer("memory"))};
}

RecyclingOptions recycling_options(const StrategySpecification& token_recycling) {
  return {.successors = token_recycling.integer("successors"),
          .nodes = token_recycling.integer("nodes"),
          .depth = token_recycling.integer("depth"),
          .across_requests = token_recycling.text("across") == "requests"};
}

}  // namespace draftscope::speculation
