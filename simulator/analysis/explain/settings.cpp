// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/settings.h"

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace draftscope::simulator {

namespace {

/// The parameter that limits a strategy's drafts; empty if it has none.
std::string_view length_parameter(std::string_view strategy) {
  constexpr std::array<std::string_view, 4> lengths{"gamma", "length", "d-max", "block"};
  for (const std::string_view name : lengths)
    for (const speculation::ParameterRow& parameter : speculation::strategy_row(strategy).parameters)
      if (parameter.name == name) return name;
  return {};
}

/// The specification with one parameter set to another value.
std::string with_parameter(const std::string& specification, std::string_view key, const std::string& value) {
  std::string text(speculation::strategy_name(specification));
  std::string_view rest = std::string_view(specification).substr(text.size());
  char before = ':';
  while (!rest.empty()) {
    rest.remove_prefix(1);  // Skips the colon or comma.
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(piece.size());
    if (piece.empty() || piece.substr(0, piece.find('=')) == key) continue;
    text.append(1, before).append(piece);
    before = ',';
  }
  return text.append(1, before).append(key).append("=").append(value);
}

}  // namespace

std::vector<std::string> with_length(const traces::Run& run, std::size_t length) {
  const std::string_view parameter = length_parameter(run.strategy);
  if (parameter.empty()) return {};
  return {with_parameter(run.specification, parameter, std::to_string(length))};
}

std::vector<std::string> verified_above_exit(const traces::Run& run) {
  const bool can =
      speculation::strategy_catalogue().can_verify_above_exit(speculation::strategy_row(run.strategy).parts);
  // A missing parameter had the default of the recording version.
  const nlohmann::json parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!can || (parameters.is_object() && parameters.value("verify", nlohmann::json()) == "above-exit"))
    return {};
  return {with_parameter(run.specification, "verify", "above-exit")};
}

bool guesses_from_text(const traces::Run& run) {
  if (const speculation::StrategyRow* row = speculation::strategy_catalogue().find(run.strategy))
    return row->guesses_from_text();
  // Other programs have different names for it.
  const auto names = [&](std::string_view word) {
    return run.strategy.find(word) != std::string::npos || run.specification.find(word) != std::string::npos;
  };
  return names("prompt_lookup") || names("prompt-lookup") || names("suffix-decoding") || names("ngram") ||
         names("n-gram");
}

}  // namespace draftscope::simulator
