// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parameters in one line each.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>

namespace draftscope::speculation {

/// Upper bound of what counts rounds or candidates.
inline constexpr const char* max_rounds = "1048576";

/// Draft tokens of the longest chain or block.
inline constexpr const char* longest_draft = "255";

inline ParameterRow integer(std::string name, std::string default_value, std::string min, std::string max,
                            std::string unit, std::string meaning) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .unit = std::move(unit),
          .meaning = std::move(meaning),
          .type = ParameterType::integer,
          .min = std::move(min),
          .max = std::move(max)};
}

/// From 0 to 1.
inline ParameterRow number(std::string name, std::string default_value, std::string unit,
                           std::string meaning) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .unit = std::move(unit),
          .meaning = std::move(meaning),
          .type = ParameterType::number,
          .min = "0",
          .max = "1"};
}

inline ParameterRow choice(std::string name, std::string default_value, std::vector<std::string> choices,
                           std::string meaning) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .meaning = std::move(meaning),
          .type = ParameterType::choice,
          .choices = std::move(choices)};
}

inline ParameterRow text(std::string name, std::string default_value, std::string unit, std::string meaning) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .unit = std::move(unit),
          .meaning = std::move(meaning)};
}

inline ParameterRow layers(std::string name, std::string default_value, std::string meaning) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .unit = "layers",
          .meaning = std::move(meaning),
          .type = ParameterType::layers};
}

/// A parameter of every strategy that may lose.
inline ParameterRow guard_parameter() {
  return number("guard", "0", "of vanilla's speed",
                "it stops while it is slower than this, and comes back at doubling intervals; 0 = never");
}

inline ParameterRow with_default(ParameterRow row, std::string value) {
  row.default_value = std::move(value);
  return row;
}

inline ParameterRow with_meaning(ParameterRow row, std::string meaning) {
  row.meaning = std::move(meaning);
  return row;
}

/// One that recordings of earlier versions do not state.
inline ParameterRow unrecorded(ParameterRow row, std::string value) {
  row.unrecorded = std::move(value);
  return row;
}

/// The choice of every strategy that drafts a chain with a model.
inline ParameterRow acceptance_parameter() {
  return unrecorded(
      choice("acceptance", "token", {"token", "block"},
             "of drawn draft tokens, at a temperature without --coupled: token by token, or block: "
             "jointly, which accepts as many or more (Sun et al. 2025)"),
      "token");
}

inline ParameterRow renamed(ParameterRow row, std::string earlier_name) {
  row.earlier_name = std::move(earlier_name);
  return row;
}

}  // namespace draftscope::speculation
