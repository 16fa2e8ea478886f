// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <memory>

#include "report/report_json.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

Json parameter_json(const speculation::ParameterRow& parameter) {
  Json json{{"name", parameter.name},
            {"default", parameter.default_value},
            {"unit", parameter.unit},
            {"meaning", parameter.meaning},
            {"type", speculation::parameter_type_name(parameter.type)}};
  if (!parameter.min.empty()) json["min"] = parameter.min;
  if (!parameter.max.empty()) json["max"] = parameter.max;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (!parameter.earlier_name.empty()) json["earlier_name"] = parameter.earlier_name;
  return json;
}

Json strategy_json(const speculation::StrategyRow& strategy) {
  Json json{{"name", strategy.name},
            {"summary", strategy.summary},
            {"source", strategy.source},
            {"parameters", json_list(strategy.parameters, parameter_json)}};
  if (strategy.has_parts() && !strategy.chooses_parts) {
    Json& parts = json["parts"] = Json::object();
    for (std::size_t kind = 0; kind < strategy.parts.size(); ++kind)
      parts[speculation::part_kind_name(static_cast<speculation::PartKind>(kind))] = strategy.parts[kind];
  }
  json["replay_needs"] = speculation::replay_needs_name(strategy.replay_needs);
  if (strategy.replay_needs == speculation::ReplayNeeds::impossible) json["no_replay"] = strategy.no_replay;
  return json;
}

std::string catalogue_json() {
  Json document = new_document();
  document["strategies"] = json_list(speculation::strategy_catalogue().strategies(), strategy_json);
  return json_text(document);
}

std::string catalogue_text() {
  std::string text;
  for (const speculation::StrategyRow& strategy : speculation::strategy_catalogue().strategies()) {
    text += fmt::format("{}: {}{}\n", strategy.name, strategy.summary,
                        strategy.source.empty() ? "" : " (" + strategy.source + ")");
    if (strategy.parameters.empty()) continue;
    Table table({"parameter", "default", "unit", "meaning"}, {});
    for (const speculation::ParameterRow& parameter : strategy.parameters)
      table.add_row({parameter.name, parameter.default_value, parameter.unit, parameter.meaning});
    text += table.text(2) + '\n';
  }
  return text;
}

}  // namespace

void add_strategies_command(CLI::App& app, Outcome& outcome) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("strategies", "List the strategies and their parameters");
  command->add_flag("--json", *json, "As JSON");
  command->callback(
      [json, &outcome] { outcome.exit_code = print_out(*json ? catalogue_json() : catalogue_text()); });
}

}  // namespace draftscope::cli
