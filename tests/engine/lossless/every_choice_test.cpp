// SPDX-License-Identifier: GPL-3.0-or-later
// Tests every strategy of the catalogue under every choice of every parameter, and every part of a mix under
// its choices. Greedy and coupled text is vanilla's.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <draftscope/speculation/weight_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cpu/quantised/round_to_e4m3.h"
#include "decoded.h"

namespace draftscope::engine {
namespace {

using speculation::ParameterRow;
using speculation::PartKind;
using speculation::PartRow;
using speculation::StrategyRow;

bool has(const std::vector<ParameterRow>& parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const ParameterRow& row) { return row.name == name; });
}

/// Whether no draft of a CPU can have weights of this format, which only GPUs make. A CPU holds e4m3 widened.
bool is_of_gpus(const std::string& weights) {
  const auto format = speculation::parse_weight_format(weights);
  return format && !cpu::e4m3_tile(*format) &&
         !speculation::makes(speculation::MadeBy::cpu, speculation::weight_format_row(*format));
}

/// Adds the specification, and one more for each choice of each parameter.
void add(const std::string& base, const std::vector<ParameterRow>& parameters, std::set<std::string>& all) {
  const std::string complete =
      has(parameters, "skip-set")
          ? speculation::with_parameter(speculation::with_parameter(base, "skip-attention", "uniform"),
                                        "skip-mlp", "random-1-3")
          : base;
  all.insert(complete);
  for (const ParameterRow& parameter : parameters)
    for (const std::string& choice : parameter.choices)
      if (!(parameter.name == "weights" && is_of_gpus(choice)) &&
          !speculation::has_parameter(base, parameter.name))
        all.insert(speculation::with_parameter(complete, parameter.name, choice));
}

std::set<std::string> specifications() {
  std::set<std::string> all{"cascade:levels=q8_0+0.5/q4_1", "cascade:levels=exit-1+0.3,siblings=3"};
  const auto& catalogue = speculation::strategy_catalogue();
  for (const StrategyRow& row : catalogue.strategies())
    if (!row.drafts_with_other_model && !has(row.parameters, "policy") && !row.chooses_parts)
      add(row.name, row.parameters, all);
  for (const PartRow& part : catalogue.parts())
    for (const char* mask : {"exit", "del"}) {
      if (part.kind == PartKind::mask && part.name != mask && std::string_view(mask) == "del") continue;
      std::string base =
          speculation::with_parameter("mix", speculation::part_kind_name(part.kind), part.name);
      if (part.kind != PartKind::mask) base = speculation::with_parameter(base, "mask", mask);
      add(base, part.parameters, all);
    }
  return all;
}

TEST(LosslessCatalogue, EveryChoiceHasTheTextOfVanilla) {
  std::mt19937 random(23);
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  for (const SamplingOptions& sampling :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.7, .top_p = 0.95, .coupled = true},
        SamplingOptions{.repetition_penalty = 1.2},
        SamplingOptions{.temperature = 0.9, .coupled = true, .repetition_penalty = 1.1},
        SamplingOptions{.frequency_penalty = 0.4, .presence_penalty = 0.3, .logit_bias = {{3, 2.0}}},
        SamplingOptions{.temperature = 0.9,
        .coupled = true,
        .min_p = 0.02,
        .frequency_penalty = 0.5,
        .presence_penalty = -0.5,
        .logit_bias = {{5, -3.0}, {1, 1.0}}}}) {
    Checkpoint checkpoint = random_checkpoint(random);
    while (checkpoint.shape.n_layers < 3) checkpoint = random_checkpoint(random);
    const auto backend = cpu_backend(checkpoint, 1, 320);
    const auto prompt = random_tokens(random, 20, checkpoint.shape.vocab);
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = sampling.penalises() ? 25 : 60, .sampling = sampling};
    const Decoded vanilla = decode_with(*backend, "vanilla", request);
    for (const std::string& specification : specifications()) {
      const Decoded found = decode_with(*backend, specification, request);
      EXPECT_EQ(found.tokens, vanilla.tokens) << specification;
      drafted += found.drafted;
      accepted += found.accepted;
    }
  }
  EXPECT_GT(specifications().size(), 50U);
  EXPECT_GT(accepted, 500);
  EXPECT_GT(drafted - accepted, 500);
}

}  // namespace
}  // namespace draftscope::engine
