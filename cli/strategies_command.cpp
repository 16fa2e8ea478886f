// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies_command.h"

#include <draftscope/engine/strategy.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

namespace draftscope::cli {

namespace {

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const engine::StrategyDescription& strategy : engine::strategy_descriptions()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const engine::ParameterDescription& parameter : strategy.parameters)
      parameters.push_back({{"name", parameter.name},
                            {"default", parameter.default_value},
                            {"unit", parameter.unit},
                            {"meaning", parameter.meaning}});
    list.push_back({{"name", strategy.name},
                    {"summary", strategy.summary},
                    {"source", strategy.source},
                    {"parameters", std::move(parameters)}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_text() {
  std::size_t widest = 0;
  for (const engine::StrategyDescription& strategy : engine::strategy_descriptions()) {
    widest = std::max(widest, strategy.name.size());
    for (const engine::ParameterDescription& parameter : strategy.parameters)
      widest = std::max(widest, parameter.name.size() + 2);
  }
  for (const engine::StrategyDescription& strategy : engine::strategy_descriptions()) {
    fmt::print("{:<{}} {} ({})\n", strategy.name, widest, strategy.summary, strategy.source);
    for (const engine::ParameterDescription& parameter : strategy.parameters)
      fmt::print("  {:<{}} {:<12} {:<8} {}\n", parameter.name, widest - 2, parameter.default_value,
                 parameter.unit, parameter.meaning);
  }
}

}  // namespace

void add_strategies_command(CLI::App& app, Outcome& /*outcome*/) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("strategies", "List the strategies and their parameters");
  command->add_flag("--json", *json, "As JSON");
  command->callback([json] { *json ? print_json() : print_text(); });
}

}  // namespace draftscope::cli
