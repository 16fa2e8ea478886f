// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every strategy, the parts that most of them consist of, and their parameters, as data. The engine makes
// strategies that decode from it, the simulator policies that replay them, the command line its list.
// Adding a strategy that is a mix of parts is adding a row (docs/recipes/add-a-strategy.md).
//
// Values; the functions are thread-safe. References into a catalogue live until something is added to it.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::speculation {

enum class ParameterType : std::uint8_t {
  integer,
  number,
  choice,
  text,
  layers,  ///< a set of layers: "3+5+8", "4-7", "none", or a pattern as "every-2" (named_layers.h)
};
[[nodiscard]] std::string_view parameter_type_name(ParameterType type);

/// A parameter. Bounds and the default of an integer are written as in "63", "L", "L-1", "L/4" with L the
/// model's number of layers, bounds also as the name of another parameter; a default with L is moved into the
/// bounds.
struct ParameterRow {
  std::string name;
  std::string default_value;
  std::string unit;
  std::string meaning;
  ParameterType type = ParameterType::text;
  std::string min, max;              ///< inclusive; of integers and numbers
  std::vector<std::string> choices;  ///< of a choice
  std::string earlier_name;          ///< still read; empty = none
  /// Earlier names of choices, each with the one that it has today; both are read.
  std::vector<std::pair<std::string, std::string>> earlier_choices;
  /// Value of a recorded run that does not state the parameter; empty = the default.
  std::string unrecorded;
};

enum class PartKind : std::uint8_t { mask, length, stop, shape };
inline constexpr std::size_t part_kind_count = 4;
/// "mask", "length", "stop", "shape": also the parameters of `mix` that choose them.
[[nodiscard]] std::string_view part_kind_name(PartKind kind);

/// Names of parts, by PartKind.
using PartNames = std::array<std::string, part_kind_count>;

/// A part that strategies are mixed of: which sublayers draft, how long, when to stop, how wide to verify. A
/// parameter that several parts of a mix share (DEL's) is one parameter of the mix.
struct PartRow {
  PartKind kind = PartKind::mask;
  std::string name;
  std::string summary;
  std::string source;  ///< paper and section; empty = none
  std::vector<ParameterRow> parameters;
  std::int32_t min_layers = 1;    ///< layers that the model must have
  std::string min_layers_reason;  ///< "first and last are kept"; empty = plain
  /// One line that says why shadow tokens do not tell the rounds of this part; empty = they do.
  std::string no_replay;
};

/// Contents that a recording must have for the simulator to replay a strategy's rounds from it.
enum class ReplayNeeds : std::uint8_t {
  texts,          ///< token ids
  shadow_tokens,  ///< and what every layer would have predicted
  impossible,     ///< no recording has it
};
[[nodiscard]] std::string_view replay_needs_name(ReplayNeeds needs);

struct StrategyRow {
  std::string name;
  std::string summary;
  std::string source;
  PartNames parts;  ///< all empty: it is no mix of parts
  /// Defaults other than the parts' own.
  std::vector<std::pair<std::string, std::string>> defaults;
  /// Its own parameters; in a catalogue all parameters, those of its parts behind, with its defaults.
  std::vector<ParameterRow> parameters;
  bool has_guard = true;       ///< in a catalogue it has the parameter `guard`, as the last of its own
  bool chooses_parts = false;  ///< `mix`: parameters name the parts, and `parts` are their defaults
  ReplayNeeds replay_needs = ReplayNeeds::shadow_tokens;  ///< for a mix `add` sets it
  /// One line that says why no policy replays it from shadow tokens; for a mix `add` sets it, from its parts.
  std::string no_replay;

  [[nodiscard]] bool has_parts() const { return !parts.front().empty(); }
};

/// The choice of `weights` that drafts on what the target computes on.
inline constexpr std::string_view own_weights = "as-held";

/// Whether verify=above-exit goes with these parts: what drafts is every sublayer below an exit.
[[nodiscard]] bool can_verify_above_exit(const PartNames& parts);

class StrategyCatalogue {
 public:
  [[nodiscard]] std::span<const PartRow> parts() const { return parts_; }
  [[nodiscard]] std::span<const StrategyRow> strategies() const { return strategies_; }
  /// Null if there is none.
  [[nodiscard]] const PartRow* find_part(PartKind kind, std::string_view name) const;
  [[nodiscard]] const StrategyRow* find(std::string_view name) const;

  /// "exit, skip-set, …".
  [[nodiscard]] std::vector<std::string> part_names(PartKind kind) const;
  /// Every parameter of the parts, each name once, in the order of the parts.
  [[nodiscard]] std::vector<ParameterRow> parameters_of(const PartNames& parts) const;
  /// Why shadow tokens do not tell the rounds of a mix of these parts: its first part's reason; empty = they
  /// do.
  [[nodiscard]] std::string no_replay_of(const PartNames& parts) const;

  void add(PartRow row) { parts_.push_back(std::move(row)); }
  /// Completes the row from its parts. Errors: a name that is taken, an unknown part, a default for a
  /// parameter that no part has.
  [[nodiscard]] Result<void> add(StrategyRow row);

 private:
  std::vector<PartRow> parts_;
  std::vector<StrategyRow> strategies_;
};

/// The catalogue that ships.
[[nodiscard]] const StrategyCatalogue& strategy_catalogue();

/// Whether the strategy's verifications run the layers above the exit alone unless told otherwise.
[[nodiscard]] bool verifies_above_exit_by_default(std::string_view strategy);

/// The name that a strategy's parameter has today, for one that it had once; any other name as it is.
[[nodiscard]] std::string_view current_parameter_name(std::string_view strategy, std::string_view parameter);

}  // namespace draftscope::speculation
