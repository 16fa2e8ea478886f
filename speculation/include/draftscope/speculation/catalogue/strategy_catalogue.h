// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every strategy, the parts that most of them consist of, and their parameters, as data. The engine makes
// strategies that decode from it, the simulator policies that replay them, the command line its list.
// Adding a strategy is adding a folder (docs/recipes/add-a-strategy.md). What others ask of a strategy is a
// field of its row: nobody compares names.
//
// Values; the functions are thread-safe. References into a catalogue live until something is added to it.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::speculation {

class LengthRule;
struct ModelShape;
class ThresholdRule;
class StrategySpecification;

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
  bool is_of_search = false;  ///< it says when or how a part searches, not what it drafts with
};

enum class PartKind : std::uint8_t { mask, length, stop, shape };
inline constexpr std::size_t part_kind_count = 4;
/// "mask", "length", "stop", "shape": also the parameters of `mix` that choose them.
[[nodiscard]] std::string_view part_kind_name(PartKind kind);

/// Names of parts, by PartKind.
using PartNames = std::array<std::string, part_kind_count>;

/// Layers that a mask drafts with.
enum class MaskLayers : std::uint8_t {
  all,
  below_exit,
  below_chosen_exit,    ///< of which the strategy chooses one, round by round
  beside_listed_set,    ///< all sublayers but those that are given
  beside_searched_set,  ///< all sublayers but those that a search finds
};

/// The layers that a draft runs through in words, and its cost in layers of the target; none = it changes.
struct DraftDescription {
  std::string text;
  std::optional<double> layers;
};

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
  MaskLayers layers = MaskLayers::all;  ///< of a mask
  /// One line that says why the tokens of one drafter do not tell the rounds of this part; empty = they do.
  std::string no_chain;
  /// The parameter of how many tokens a mask tries sets on, if it logs each with its share of right tokens.
  std::string tried_on;
  // Its rules over counts; null = it has none.
  std::optional<LengthRule> (*length_rule)(const StrategySpecification& mix) = nullptr;
  std::optional<ThresholdRule> (*threshold_rule)(const StrategySpecification& mix) = nullptr;
  /// Null: its parameters say enough.
  DraftDescription (*describe)(const StrategySpecification& mix, const ModelShape& shape) = nullptr;
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
  bool is_baseline = false;              ///< vanilla decoding
  bool drafts_with_other_model = false;  ///< one of its own
  bool goes_by_times = false;            ///< what it drafts follows from what rounds take
  bool names_another = false;            ///< its file names the strategy that decodes
  bool is_plain_exit = false;            ///< imported answers of other programs' early exits are named so
  DraftDescription draft;                ///< if it is no mix
  // As PartRow's, of a strategy that is no mix.
  std::optional<LengthRule> (*length_rule)(const StrategySpecification& strategy) = nullptr;
  std::optional<ThresholdRule> (*threshold_rule)(const StrategySpecification& strategy) = nullptr;

  [[nodiscard]] bool has_parts() const { return !parts.front().empty(); }
  /// Whether its drafts follow from the text's tokens alone.
  [[nodiscard]] bool guesses_from_text() const { return replay_needs == ReplayNeeds::texts && !is_baseline; }
};

/// The choice of `weights` that drafts on what the target computes on.
inline constexpr std::string_view own_weights = "as-held";

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
  /// Whether verify=above-exit goes with these parts: what drafts is every sublayer below an exit.
  [[nodiscard]] bool can_verify_above_exit(const PartNames& parts) const;
  /// Why shadow tokens do not tell the rounds of a mix of these parts: its first part's reason; empty = they
  /// do.
  [[nodiscard]] std::string no_replay_of(const PartNames& parts) const;

  void add(PartRow row) { parts_.push_back(std::move(row)); }
  /// Completes the row from its parts. Errors: a name that is taken, an unknown part, a default for a
  /// parameter that no part has.
  [[nodiscard]] Result<void> add(StrategyRow row);

 private:
  /// The parameter of `mix` that chooses a part.
  [[nodiscard]] ParameterRow choice_of_part(PartKind kind, const std::string& default_part) const;

  std::vector<PartRow> parts_;
  std::vector<StrategyRow> strategies_;
};

/// The catalogue that ships.
[[nodiscard]] const StrategyCatalogue& strategy_catalogue();

/// The row of a strategy by name; of a name that is not in the catalogue an empty row.
[[nodiscard]] const StrategyRow& strategy_row(std::string_view name);

/// Whether the strategy's verifications run the layers above the exit alone unless told otherwise.
[[nodiscard]] bool verifies_above_exit_by_default(std::string_view strategy);

/// "63", "L", "L-1" or "L/4" for a model of so many layers, rounded down; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers);

/// The name that a strategy's parameter has today, for one that it had once; any other name as it is.
[[nodiscard]] std::string_view current_parameter_name(std::string_view strategy, std::string_view parameter);

}  // namespace draftscope::speculation
