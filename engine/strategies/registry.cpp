// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

const std::array<StrategyEntry, 5>& entries() {
  static const std::array<StrategyEntry, 5> all{vanilla_entry(), layerskip_entry(), prompt_lookup_entry(),
                                                jacobi_entry(), lookahead_entry()};
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

Result<ConfiguredStrategy> make_strategy(std::string_view specification, const ModelShape& shape) {
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
  DRAFTSCOPE_TRY_ASSIGN(Parameters parameters, Parameters::parse(entry->description, text));
  DRAFTSCOPE_TRY_ASSIGN(auto strategy, entry->make(parameters, shape));
  return ConfiguredStrategy{.name = std::string(name),
                            .specification = parameters.specification(),
                            .parameters = parameters.json(),
                            .is_vanilla = name == "vanilla",
                            .strategy = std::move(strategy)};
}

}  // namespace draftscope::engine
