// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every strategy, the parts that most of them consist of, and their parameters, as data. The engine makes
// decoding strategies from it, the simulator makes replay policies, and the command line prints it. Adding a
// strategy means adding a folder (docs/recipes/add-a-strategy.md). Facts that other code needs about a
// strategy are fields of its row, so nobody compares names.
//
// Values; the functions are thread-safe. References into a catalogue live until something is added to it.

#include <draftscope/base/result.h>
#include <draftscope/speculation/branch_width.h>
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
  layers,  ///< Set of layers: "3+5+8", "4-7", "none", or a pattern as "every-2" (named_layers.h).
};
[[nodiscard]] std::string_view parameter_type_name(ParameterType type);

/// A parameter. Bounds and default of an integer have the forms "63", "L", "L-1" and "L/4", where L is the
/// model's number of layers. A bound may also be the name of another parameter. A default with L is clamped
/// to the bounds.
struct ParameterRow {
  std::string name;
  std::string default_value;
  std::string unit;
  std::string meaning;
  ParameterType type = ParameterType::text;
  std::string min, max;              ///< Inclusive bounds of integers and numbers.
  std::vector<std::string> choices;  ///< Values that a choice allows.
  std::string earlier_name;          ///< Name that is still read; empty = none.
  /// Pairs of a choice's earlier name and its present one; both are read.
  std::vector<std::pair<std::string, std::string>> earlier_choices;
  /// Value of a recorded run that does not state the parameter; empty = the default.
  std::string unrecorded;
  /// Whether it controls when or how a part searches, not the sublayers of the draft.
  bool is_of_search = false;
  /// Whether it matters only where tokens are drawn, at a temperature.
  bool is_of_draws = false;
};

enum class PartKind : std::uint8_t { mask, length, stop, shape };
inline constexpr std::size_t part_kind_count = 4;
/// Name of a kind: "mask", "length", "stop", "shape". The parameters of `mix` that choose parts have these
/// names.
[[nodiscard]] std::string_view part_kind_name(PartKind kind);

/// Names of parts, by PartKind.
using PartNames = std::array<std::string, part_kind_count>;

/// Layers that a mask runs when drafting.
enum class MaskLayers : std::uint8_t {
  all,
  below_exit,
  below_chosen_exit,    ///< The strategy chooses one exit of several, round by round.
  beside_listed_set,    ///< All sublayers but a given set.
  beside_searched_set,  ///< All sublayers but a set that a search finds.
};

/// Describes the layers that a draft runs, and its cost in layers of the target; none = the cost changes.
struct DraftDescription {
  std::string text;
  std::optional<double> layers;
};

/// A part that strategies are mixed from: which sublayers draft, how long, when to stop, how wide to verify.
/// A parameter that several parts of a mix share (DEL's) is one parameter of the mix.
struct PartRow {
  PartKind kind = PartKind::mask;
  std::string name;
  std::string summary;
  std::string source;  ///< Paper and section; empty = none.
  std::vector<ParameterRow> parameters;
  std::int32_t min_layers = 1;    ///< Minimum layers of the model.
  std::string min_layers_reason;  ///< Reason for min_layers ("first and last are kept"); empty = plain.
  /// One line that says why shadow tokens do not determine the rounds of this part; empty = they do.
  std::string no_replay;
  MaskLayers layers = MaskLayers::all;  ///< Layers that draft; only for parts of kind mask.
  /// One line that says why the tokens of one drafter do not determine the rounds of this part; empty = they
  /// do.
  std::string no_chain;
  /// Name of the parameter for the number of tokens on which a mask tries sets. Only for masks that log each
  /// set with its share of correct tokens.
  std::string tried_on;
  // Returns the part's length rule over counts; null = it has none.
  std::optional<LengthRule> (*length_rule)(const StrategySpecification& mix) = nullptr;
  std::optional<ThresholdRule> (*threshold_rule)(const StrategySpecification& mix) = nullptr;
  /// Returns the widths of a tree's steps, which live as long as the program; null = it drafts chains.
  std::span<const BranchWidth> (*widths)(const StrategySpecification& mix) = nullptr;
  /// Describes the draft; null = the parameters say enough.
  DraftDescription (*describe)(const StrategySpecification& mix, const ModelShape& shape) = nullptr;
};

/// Contents that a recording must have for the simulator to replay a strategy's rounds from it.
enum class ReplayNeeds : std::uint8_t {
  texts,          ///< Token ids.
  shadow_tokens,  ///< Token ids and the prediction of every layer.
  impossible,     ///< Shadow tokens do not tell; runs of the strategy itself may.
};
[[nodiscard]] std::string_view replay_needs_name(ReplayNeeds needs);

struct StrategyRow {
  std::string name;
  std::string summary;
  std::string source;
  PartNames parts;  ///< Parts of the mix; all empty = the strategy is no mix.
  /// Defaults that differ from those of the parts.
  std::vector<std::pair<std::string, std::string>> defaults;
  /// The strategy's parameters. In a catalogue its own come first, then those of its parts, with its
  /// defaults.
  std::vector<ParameterRow> parameters;
  bool has_guard = true;       ///< Whether add() appends the parameter `guard` to its own ones.
  bool chooses_parts = false;  ///< True for `mix`: parameters name the parts, and `parts` are their defaults.
  /// Contents that a replay needs; add() sets it for a mix.
  ReplayNeeds replay_needs = ReplayNeeds::shadow_tokens;
  /// One line that says why no policy replays it from shadow tokens; for a mix add() sets it from the parts.
  std::string no_replay;
  bool is_baseline = false;  ///< Whether it is vanilla decoding.
  bool drafts_with_other_model = false;
  bool goes_by_times = false;  ///< Whether its drafts depend on measured round times.
  bool names_another = false;  ///< Whether its file names the strategy that decodes.
  bool is_plain_exit = false;  ///< Whether imported answers of other programs' early exits get this name.
  DraftDescription draft;      ///< Describes the draft of a strategy that is no mix.
  // Length rule of a strategy that is no mix, like PartRow::length_rule.
  std::optional<LengthRule> (*length_rule)(const StrategySpecification& strategy) = nullptr;
  std::optional<ThresholdRule> (*threshold_rule)(const StrategySpecification& strategy) = nullptr;

  [[nodiscard]] bool has_parts() const { return !parts.front().empty(); }
  /// Whether its drafts depend on the text's tokens alone.
  [[nodiscard]] bool guesses_from_text() const { return replay_needs == ReplayNeeds::texts && !is_baseline; }
};

/// The choice of `weights` that drafts on the target's own weights.
inline constexpr std::string_view own_weights = "as-held";

class StrategyCatalogue {
 public:
  [[nodiscard]] std::span<const PartRow> parts() const { return parts_; }
  [[nodiscard]] std::span<const StrategyRow> strategies() const { return strategies_; }
  /// The part of this kind and name; null if there is none.
  [[nodiscard]] const PartRow* find_part(PartKind kind, std::string_view name) const;
  [[nodiscard]] const StrategyRow* find(std::string_view name) const;

  /// Names of the kind's parts: "exit, skip-set, …".
  [[nodiscard]] std::vector<std::string> part_names(PartKind kind) const;
  /// Every parameter of the parts, each name once, in the order of the parts.
  [[nodiscard]] std::vector<ParameterRow> parameters_of(const PartNames& parts) const;
  /// Whether verify=above-exit works with these parts: the draft runs every sublayer below an exit.
  [[nodiscard]] bool can_verify_above_exit(const PartNames& parts) const;
  /// Why shadow tokens do not determine the rounds of a mix of these parts: the first reason of a part; empty
  /// = they do.
  [[nodiscard]] std::string no_replay_of(const PartNames& parts) const;

  /// Adds a part, a mask with the parameter `weights`.
  void add(PartRow row);
  /// Adds a row and completes it from its parts. Errors: a name that is taken, an unknown part, a default for
  /// a parameter that no part has.
  [[nodiscard]] Result<void> add(StrategyRow row);

 private:
  /// The parameter of `mix` that chooses a part.
  [[nodiscard]] ParameterRow choice_of_part(PartKind kind, const std::string& default_part) const;

  std::vector<PartRow> parts_;
  std::vector<StrategyRow> strategies_;
};

/// The catalogue that ships.
[[nodiscard]] const StrategyCatalogue& strategy_catalogue();

/// The row of a strategy by name; an empty row for a name that is not in the catalogue.
[[nodiscard]] const StrategyRow& strategy_row(std::string_view name);

/// Whether the strategy's verifications run only the layers above the exit unless the user asks otherwise.
[[nodiscard]] bool verifies_above_exit_by_default(std::string_view strategy);

/// Evaluates "63", "L", "L-1" or "L/4" for a model of so many layers, rounded down; nothing for any other
/// text.
[[nodiscard]] std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers);

/// Today's name for a parameter that the strategy once named otherwise; any other name is returned unchanged.
[[nodiscard]] std::string_view current_parameter_name(std::string_view strategy, std::string_view parameter);

}  // namespace draftscope::speculation
