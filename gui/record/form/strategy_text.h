// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy while the user writes it: the text that -s takes, split into a name and the given parameters,
// valid or not. The catalogue defines the parameters.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::gui {

struct StrategyText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> given;  ///< Parameter and value, in order of the text.
};

/// Splits a text; pieces that are not "key=value" are left out.
[[nodiscard]] StrategyText strategy_text_of(std::string_view text);

/// Joins a strategy to "name:key=value,…".
[[nodiscard]] std::string text_of(const StrategyText& strategy);

/// Parameters of the strategy and of the parts that it names; empty for an unknown name.
[[nodiscard]] std::vector<speculation::ParameterRow> parameters_of(const StrategyText& strategy);

/// Value that the text gives, under the parameter's name or its former one; null if it gives none.
[[nodiscard]] const std::string* given_value(const StrategyText& strategy,
                                             const speculation::ParameterRow& parameter);

/// The text with another value of one parameter; an empty value restores the default. If a part is replaced,
/// parameters that no remaining part has are removed.
[[nodiscard]] std::string with_value(std::string_view text, const speculation::ParameterRow& parameter,
                                     const std::string& value);

/// Text like "1 to 11 layers". `n_layers` fills in numeric bounds; 0 = unknown. Empty if there are neither
/// bounds nor a unit.
[[nodiscard]] std::string range_text(const speculation::ParameterRow& parameter, std::int32_t n_layers);

/// Value that applies if none is given: "3" for the default "L/4" with 12 layers.
[[nodiscard]] std::string default_text(const speculation::ParameterRow& parameter, std::int32_t n_layers);

/// Why a model of this many layers can't be decoded with the strategy, in one line; nullopt if it can. 0 =
/// unknown, which accepts every depth that some model could have.
[[nodiscard]] std::optional<std::string> problem_of_strategy(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::gui
