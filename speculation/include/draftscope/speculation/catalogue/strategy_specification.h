// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy and its parameters for a model: read from "name:key=value,…" or from the JSON of
// Run::parameters, checked against the catalogue, with every default filled in.
//
// Values; all functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::speculation {

class StrategySpecification {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The parts of the mix; all empty if the strategy is no mix.
  [[nodiscard]] const PartNames& parts() const { return parts_; }
  [[nodiscard]] const std::string& part(PartKind kind) const {
    return parts_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] bool has_parts() const { return !parts_.front().empty(); }
  /// The row of the strategy's part in the catalogue that ships; null if there is none.
  [[nodiscard]] const PartRow* part_row(PartKind kind) const;
  /// Whether it is a mix that drafts with these layers.
  [[nodiscard]] bool drafts_with(MaskLayers layers) const;
  /// Format of the weights that the draft computes on; none = the target's own.
  [[nodiscard]] std::optional<WeightFormat> draft_weights() const;
  /// Speed relative to vanilla decoding below which drafting stops; 0 = none.
  [[nodiscard]] double guard() const;
  /// Why no policy replays the strategy from shadow tokens, in one line; empty = one does.
  [[nodiscard]] const std::string& no_replay() const { return no_replay_; }

  // Each getter takes the name of one of the strategy's parameters; the value has the getter's type and lies
  // within its bounds.
  [[nodiscard]] std::int32_t integer(std::string_view parameter) const;
  [[nodiscard]] double number(std::string_view parameter) const;
  /// Value of a text or a choice; a list of layers as "3+5+8" or "none", or as given.
  [[nodiscard]] const std::string& text(std::string_view parameter) const;

  /// `name:key=value,…` with the parameters that were given, in the catalogue's order.
  [[nodiscard]] std::string given() const;
  /// JSON object of all parameters; numbers as numbers.
  [[nodiscard]] std::string json() const;

 private:
  friend class SpecificationParser;
  struct Value {
    std::string parameter;
    std::string value;
    std::string as_given;
    bool is_given = false;
  };
  [[nodiscard]] const Value& value_of(std::string_view parameter) const;

  std::string name_;
  PartNames parts_;
  std::string no_replay_;
  std::vector<Value> values_;
};

/// Parses "layerskip:exit=4,gamma=6" for a model of `n_layers` layers. Errors, one line: an unknown name or
/// part, an unknown or repeated parameter, a value out of its bounds, a model with too few layers for a part,
/// parts that do not go together.
[[nodiscard]] Result<StrategySpecification> parse_strategy(
    std::string_view text, std::int32_t n_layers, const StrategyCatalogue& catalogue = strategy_catalogue());

/// Parses a strategy from its name and a JSON object of numbers and strings, as traces store it. A parameter
/// that an earlier version lacked takes the value that version used (ParameterRow::unrecorded).
[[nodiscard]] Result<StrategySpecification> parse_strategy_json(
    std::string_view name, std::string_view json, std::int32_t n_layers,
    const StrategyCatalogue& catalogue = strategy_catalogue());

/// The part of a specification before the colon.
[[nodiscard]] inline std::string_view strategy_name(std::string_view specification) {
  return specification.substr(0, specification.find(':'));
}

}  // namespace draftscope::speculation
