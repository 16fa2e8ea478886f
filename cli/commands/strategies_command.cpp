// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/engine/strategy.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "terminal/table.h"

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
  for (const engine::StrategyDescription& strategy : engine::strategy_descriptions()) {
    fmt::print("{}: {}{}\n", strategy.name, strategy.summary,
               strategy.source.empty() ? "" : " (" + strategy.source + ")");
    if (strategy.parameters.empty()) continue;
    Table table({{"parameter", Align::left},
                 {"default", Align::left},
                 {"unit", Align::left},
                 {"meaning", Align::left}});
    for (const engine::ParameterDescription& parameter : strategy.parameters)
      table.add_row({parameter.name, parameter.default_value, parameter.unit, parameter.meaning});
    fmt::print("{}\n", table.text(2));
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
