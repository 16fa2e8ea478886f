// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A setting and how it was found, as one JSON file: what `draftscope tune` measured, with every trial, or
// what the simulator predicts; the strategy `tuned` runs it (tuned:policy=FILE). The file is also the state
// of a search under way ("finished": false): which candidate comes next follows from the settings and the
// trials in their order.
//
// {"draftscope_policy": 1, "finished": …, "strategy": "name:key=value,…", "score": {…}, "finalists": [{…},
// …],
//  "skip_sets": {…}, "model": {…}, "machine": {…}, "prompts": {…}, "settings": {…}, "tool_version": …,
//  "date": …, "command_line": …, "trials": [{…}, …]}

#include <draftscope/base/result.h>
#include <draftscope/speculation/candidate.h>
#include <draftscope/speculation/model_shape.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// Keys and values of one of the file's objects. Integers are numbers in the file and text here.
using Facts = std::map<std::string, std::string>;

/// How a setting did, or is predicted to do.
struct Measurement {
  double score = 0.0;              ///< over vanilla: 2 = twice as fast, or predicted to be
  double tokens_per_second = 0.0;  ///< prefill included; 0 = not timed
  double vanilla_tokens_per_second = 0.0;
  double acceptance_rate = 0.0;   ///< accepted / drafted; 0 if nothing was drafted
  double tokens_per_round = 0.0;  ///< emitted
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// How a trial got its score.
enum class ScoredBy : std::uint8_t {
  decoded,         ///< the setting decoded the prompts
  teacher_forced,  ///< its draft ran over texts that vanilla decoding had given
};

/// "decoded" or "teacher-forced", as files name it.
[[nodiscard]] constexpr std::string_view scored_by_name(ScoredBy scored_by) {
  constexpr std::string_view names[] = {"decoded", "teacher-forced"};
  return names[static_cast<std::size_t>(scored_by)];
}

struct Trial {
  std::string setting;       ///< a strategy specification
  std::int32_t prompts = 0;  ///< it was scored on so many; fewer than the search has if it was stopped early
  Measurement measured;
  std::optional<Candidate> candidate;      ///< of a search for a skip set
  ScoredBy scored_by = ScoredBy::decoded;  ///< files that say nothing were decoded
  /// Share of the texts' tokens that the draft predicts from the text before them; none if it was decoded.
  std::optional<double> agreement;
};

/// One of the search's best settings, measured again after it, so that none wins by one lucky trial.
struct Finalist {
  std::string setting;
  std::vector<Measurement> repeats;
  friend bool operator==(const Finalist&, const Finalist&) = default;
};

struct PolicyFile {
  bool finished = false;
  std::string strategy;  ///< the best so far; empty before the first trial
  /// Measurements of `strategy`, repeated after the search: of several finalists, the one of the highest
  /// median.
  std::vector<Measurement> repeats;
  /// By falling median, `strategy` first; empty before the end, and in files that know of none.
  std::vector<Finalist> finalists;
  /// The best, in the file's skip_sets under policy_skip_set.
  std::optional<SublayerMask> skip_set;
  Facts model;  ///< model_facts()
  Facts machine;
  Facts prompts;
  Facts settings;
  std::string tool_version;
  std::string date;
  std::string command_line;
  std::vector<Trial> trials;
};

/// The name of a policy's skip set: the default of draft-verify's skip-set-name.
inline constexpr std::string_view policy_skip_set = "default";

/// The model's name, its checkpoint's hash and the shape that a setting depends on.
[[nodiscard]] Facts model_facts(const ModelShape& shape, std::string_view checkpoint_hash);

/// Fails if the policy is for a model of another shape; `file` names the policy.
[[nodiscard]] Result<void> check_policy_shape(const PolicyFile& policy, const ModelShape& shape,
                                              std::string_view file);

/// Errors, one line with file and field: not JSON, cut off, not a policy, fields absent, unknown or of
/// another type.
[[nodiscard]] Result<PolicyFile> read_policy(const std::filesystem::path& file);
[[nodiscard]] Result<PolicyFile> parse_policy(std::string_view text, std::string_view file);

[[nodiscard]] std::string policy_json(const PolicyFile& policy);
/// Whole or not at all, whatever interrupts it.
[[nodiscard]] Result<void> write_policy(const std::filesystem::path& file, const PolicyFile& policy);

/// Median and range of the repeats' scores; none without repeats.
struct ScoreSpread {
  double median = 0.0;
  double minimum = 0.0;
  double maximum = 0.0;
};
[[nodiscard]] std::optional<ScoreSpread> score_spread(const std::vector<Measurement>& repeats);

}  // namespace draftscope::speculation
