// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy while it is being written: what -s takes, as a name and the parameters that are given, valid or
// not. The catalogue says which parameters there are.

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
  std::vector<std::pair<std::string, std::string>> given;  ///< parameter and value, in the order of the text
};

/// Pieces that are no "key=value" are left out.
[[nodiscard]] StrategyText strategy_text_of(std::string_view text);

/// "name:key=value,…".
[[nodiscard]] std::string text_of(const StrategyText& strategy);

/// Parameters that the strategy has, with those of the parts that it names; none of an unknown name.
[[nodiscard]] std::vector<speculation::ParameterRow> parameters_of(const StrategyText& strategy);

/// The value that the text gives, under the parameter's name or its earlier one; null if it gives none.
[[nodiscard]] const std::string* given_value(const StrategyText& strategy,
                                             const speculation::ParameterRow& parameter);

/// The text with one parameter at another value; an empty value leaves it at its default. A part that gives
/// way to another takes the parameters along that no part has any more.
[[nodiscard]] std::string with_value(std::string_view text, const speculation::ParameterRow& parameter,
                                     const std::string& value);

/// "1 to 11 layers", with the bounds for a model of so many layers as far as they are numbers; 0 = not known.
/// Empty where there are neither bounds nor a unit.
[[nodiscard]] std::string range_text(const speculation::ParameterRow& parameter, std::int32_t n_layers);

/// The value that holds where nothing is given: "3" of the default "L/4" with 12 layers.
[[nodiscard]] std::string default_text(const speculation::ParameterRow& parameter, std::int32_t n_layers);

/// Why a model of so many layers can't be decoded so, in one line; 0 = not known, then every depth that some
/// model could have is fine. Nothing if it can.
[[nodiscard]] std::optional<std::string> problem_of_strategy(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::gui
