// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>
#include <vector>

#include "strategies/presets.h"
#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

const std::vector<StrategyEntry>& entries() {
  static const std::vector<StrategyEntry> all = [] {
    std::vector<StrategyEntry> list{vanilla_entry()};
    for (StrategyEntry& entry : preset_entries()) list.push_back(std::move(entry));
    list.push_back(mix_entry());
    for (StrategyEntry entry : {two_model_entry(), prompt_lookup_entry(), jacobi_entry(), lookahead_entry()})
      list.push_back(std::move(entry));
    list.push_back(tuned_entry());
    return list;
  }();
  return all;
}

}  // namespace

std::span<const StrategyDescription> strategy_descriptions() {
  static const std::vector<StrategyDescription> descriptions = [] {
    std::vector<StrategyDescription> list;
    for (const StrategyEntry& entry : entries()) list.push_back(entry.description);
    return list;
  }();
  return descriptions;
}

Result<ConfiguredStrategy> make_strategy(std::string_view specification, const speculation::ModelShape& shape,
                                         const StrategyResources& resources) {
  // Errors quote what they found, and are one line.
  if (std::any_of(specification.begin(), specification.end(),
                  [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return fail("strategy: found a control character, expected name:key=value,…");
  const std::string_view name = specification.substr(0, specification.find(':'));
  const auto entry = std::find_if(entries().begin(), entries().end(), [name](const StrategyEntry& candidate) {
    return candidate.description.name == name;
  });
  if (entry == entries().end()) {
    std::string names;
    for (const StrategyEntry& candidate : entries())
      names += (names.empty() ? "" : ", ") + candidate.description.name;
    return fail("strategy: unknown name \"{}\", expected one of: {}", name, names);
  }
  const std::string_view text =
      name.size() == specification.size() ? "" : specification.substr(name.size() + 1);
  StrategyEntry chosen = *entry;
  if (entry->specialise != nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(chosen, entry->specialise(text));
  }
  DRAFTSCOPE_TRY_ASSIGN(Parameters parameters, Parameters::parse(chosen.description, text));
  if (chosen.configure != nullptr) return chosen.configure(parameters, shape, resources);
  DRAFTSCOPE_TRY_ASSIGN(auto strategy, chosen.make(parameters, shape, resources));
  return ConfiguredStrategy{.name = std::string(name),
                            .specification = parameters.specification(),
                            .parameters = parameters.json(),
                            .is_vanilla = name == "vanilla",
                            .strategy = std::move(strategy)};
}

}  // namespace draftscope::engine
