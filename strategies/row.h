// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy's or part's row of the catalogue, with each parameter in one line.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/model_shape.h>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::speculation {

/// Rows of a folder of strategies/; its row.cpp defines them as StrategyRows row_of_FOLDER().
struct StrategyRows {
  std::vector<PartRow> parts;
  std::vector<StrategyRow> strategies;
};

/// Rows of all folders, in the order in which they are listed (cmake/strategies.cmake).
[[nodiscard]] std::vector<StrategyRows> every_row();

/// Upper bound of parameters that count rounds or candidates.
inline constexpr const char* max_rounds = "1048576";

/// Draft tokens of the longest chain or block.
inline constexpr const char* longest_draft = "255";

/// Reason of masks that keep the layers at both ends.
inline constexpr const char* both_ends_are_kept = "first and last are kept";

// Reasons why shadow tokens do not determine rounds.
inline constexpr const char* follows_from_the_text =
    "it drafts no prefix of the model's layers; its guesses follow from the text (replay_lookup.h)";
inline constexpr const char* follows_from_earlier_guesses =
    "its guesses come from what the target said about earlier guesses, which only its own runs record";

/// Reason of a mask that leaves out middle sublayers, after a clause on how it chooses them.
inline std::string reads_its_own_rows(std::string chooses = {}) {
  return std::move(chooses) +
         "a draft without middle sublayers reads its own K/V after its first token, which shadow tokens do "
         "not have";
}

/// The draft of a strategy that guesses without a model.
inline DraftDescription guesses() {
  return {"guesses, without a forward", 0.0};
}

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

/// A number from 0 to 1.
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

/// The parameter `guard` of every strategy that may be slower than vanilla.
inline ParameterRow guard_parameter() {
  return number("guard", "0", "of vanilla's speed",
                "it stops while it is slower than this, and comes back at doubling intervals; 0 = never");
}

/// Marks a parameter that controls when or how a part searches, not the sublayers of the draft.
inline ParameterRow of_search(ParameterRow row) {
  row.is_of_search = true;
  return row;
}

inline ParameterRow with_default(ParameterRow row, std::string value) {
  row.default_value = std::move(value);
  return row;
}

inline ParameterRow with_meaning(ParameterRow row, std::string meaning) {
  row.meaning = std::move(meaning);
  return row;
}

/// Marks a parameter that recordings of earlier versions do not state.
inline ParameterRow unrecorded(ParameterRow row, std::string value) {
  row.unrecorded = std::move(value);
  return row;
}

/// The parameter `acceptance` of every strategy that drafts a chain with a model.
inline ParameterRow acceptance_parameter() {
  ParameterRow acceptance = unrecorded(
      choice("acceptance", "token", {"token", "block"},
             "of drawn draft tokens, at a temperature without --coupled: token by token, or block: "
             "jointly, which accepts as many or more (Sun et al. 2025)"),
      "token");
  acceptance.is_of_draws = true;
  return acceptance;
}

inline ParameterRow renamed(ParameterRow row, std::string earlier_name) {
  row.earlier_name = std::move(earlier_name);
  return row;
}

}  // namespace draftscope::speculation
