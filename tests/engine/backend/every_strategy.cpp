// SPDX-License-Identifier: GPL-3.0-or-later
#include "every_strategy.h"

#include <draftscope/engine/tuning/policy.h>
#include <draftscope/speculation/strategy_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace draftscope::engine::test {
namespace {

constexpr std::string_view skip_set = "skip-attention=1,skip-mlp=0+1";

bool has(const speculation::StrategyRow& strategy, std::string_view parameter) {
  return std::any_of(strategy.parameters.begin(), strategy.parameters.end(),
                     [&](const speculation::ParameterRow& known) { return known.name == parameter; });
}

}  // namespace

std::vector<std::string> held_weights(Backend& backend) {
  std::vector<std::string> held;
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (backend.prepare_draft_weights(row.format)) held.emplace_back(row.name);
  return held;
}

std::vector<std::string> half_of_turn(const std::vector<std::string>& names, int turn) {
  std::vector<std::string> half;
  for (auto i = static_cast<std::size_t>(turn % 2); i < names.size(); i += 2) half.push_back(names[i]);
  return half.empty() ? names : half;  // a single name is taken in every turn
}

EveryStrategy::EveryStrategy(const speculation::ModelShape& shape, std::vector<std::string> weights)
    : policy_(std::filesystem::temp_directory_path() /
              fmt::format("draftscope-policy-{}.json", std::random_device{}())),
      weights_(std::move(weights)) {
  write_policy_for(shape);
  for (const speculation::StrategyRow& strategy : speculation::strategy_catalogue().strategies())
    add(strategy);
}

EveryStrategy::~EveryStrategy() {
  std::error_code ignored;
  std::filesystem::remove(policy_, ignored);
}

void EveryStrategy::add(const speculation::StrategyRow& strategy) {
  const std::string& name = strategy.name;
  if (name == "quantised") {
    for (const std::string& format : weights_) specifications_.push_back("quantised:weights=" + format);
    return;
  }
  if (strategy.chooses_parts) return add_mixes();
  if (name == "tuned") {
    specifications_.push_back(fmt::format("tuned:policy={}", policy_.string()));
  } else if (has(strategy, "model")) {
    for (const char* schedule : {"constant", "heuristic"})
      specifications_.push_back(fmt::format("{}:model=draft,gamma=4,schedule={}", name, schedule));
  } else if (has(strategy, "skip-set")) {
    specifications_.push_back(fmt::format("{}:{}", name, skip_set));
  } else {
    specifications_.push_back(name);
  }
  if (has(strategy, "exit") && has(strategy, "verify"))
    for (const char* verify : {"all-layers", "above-exit"})
      specifications_.push_back(fmt::format("{}:exit=2,verify={}", name, verify));
  // Pass a copy, since the list grows while its last entry is read.
  add_choices(strategy, std::string(specifications_.back()));
}

/// Adds every choice other than the default, on top of a specification with everything that the strategy
/// needs.
void EveryStrategy::add_choices(const speculation::StrategyRow& strategy, const std::string& specification) {
  for (const speculation::ParameterRow& parameter : strategy.parameters) {
    if (speculation::has_parameter(specification, parameter.name)) continue;
    const bool is_weights = parameter.name == "weights";
    // The target can't continue from the states of a draft that uses other weights.
    const std::string base = is_weights && speculation::has_parameter(specification, "verify")
                                 ? speculation::set_parameter(specification, "verify", "all-layers")
                                 : specification;
    for (const std::string& choice : is_weights ? weights_ : parameter.choices)
      if (choice != parameter.default_value)
        specifications_.push_back(speculation::with_parameter(base, parameter.name, choice));
  }
}

void EveryStrategy::add_mixes() {
  for (const speculation::PartRow& part : speculation::strategy_catalogue().parts()) {
    const std::string needed = part.name == "skip-set" ? fmt::format(",{}", skip_set) : "";
    specifications_.push_back(
        fmt::format("mix:{}={}{}", speculation::part_kind_name(part.kind), part.name, needed));
    // Trees verify rows that chains do not, whichever part chose the mask.
    if (part.kind == speculation::PartKind::mask)
      specifications_.push_back(fmt::format("mix:mask={},shape=tree{}", part.name, needed));
  }
}

void EveryStrategy::write_policy_for(const speculation::ModelShape& shape) const {
  const Measurement measured{1.25, 500.0, 400.0, 0.75, 2.5};
  const std::string setting = fmt::format("draft-verify:gamma=4,{}", skip_set);
  const Policy policy{.finished = true,
                      .strategy = setting,
                      .repeats = {measured},
                      .model = model_facts(shape, "0123abcd"),
                      .machine = {{"processor", "any"}},
                      .prompts = {{"questions", "1"}},
                      .settings = {{"seed", "1"}},
                      .tool_version = "1.0",
                      .date = "2026-01-02T03:04:05Z",
                      .command_line = "draftscope tune",
                      .trials = {{setting, 1, measured, {}}}};
  if (const auto written = write_policy(policy_, policy); !written)
    throw std::runtime_error(written.error().message);
}

}  // namespace draftscope::engine::test
