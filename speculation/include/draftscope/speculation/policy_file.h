// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A setting and its search, as one JSON file: the measurements of `draftscope tune`, with every trial, or the
// simulator's prediction. The strategy `tuned` runs it (tuned:policy=FILE). The file is also the state of a
// search in progress ("finished": false): the settings and the trials in their order determine the next
// candidate.
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

/// Measured or predicted performance of a setting.
struct Measurement {
  double score = 0.0;              ///< Speed relative to vanilla: 2 = twice as fast, or predicted to be.
  double tokens_per_second = 0.0;  ///< Speed with prefill included; 0 = not timed.
  double vanilla_tokens_per_second = 0.0;
  double acceptance_rate = 0.0;   ///< Accepted / drafted tokens; 0 if nothing was drafted.
  double tokens_per_round = 0.0;  ///< Mean of emitted tokens.
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// How a trial got its score.
enum class ScoredBy : std::uint8_t {
  decoded,         ///< The setting decoded the prompts.
  teacher_forced,  ///< The draft ran over texts from vanilla decoding.
};

/// "decoded" or "teacher-forced", as files name it.
[[nodiscard]] constexpr std::string_view scored_by_name(ScoredBy scored_by) {
  constexpr std::string_view names[] = {"decoded", "teacher-forced"};
  return names[static_cast<std::size_t>(scored_by)];
}

struct Trial {
  std::string setting;  ///< Strategy specification.
  /// Prompts that the score covers; fewer than the search has if the trial was stopped early.
  std::int32_t prompts = 0;
  Measurement measured;
  std::optional<Candidate> candidate;      ///< Candidate in a search for a skip set.
  ScoredBy scored_by = ScoredBy::decoded;  ///< Files that do not say it mean `decoded`.
  /// Share of the texts' tokens that the draft predicts from the text before them; none if the setting
  /// decoded.
  std::optional<double> agreement;
};

/// One of the search's best settings. It is measured again after the search, so that none wins by one lucky
/// trial.
struct Finalist {
  std::string setting;
  std::vector<Measurement> repeats;
  friend bool operator==(const Finalist&, const Finalist&) = default;
};

struct PolicyFile {
  bool finished = false;
  std::string strategy;  ///< The best strategy so far; empty before the first trial.
  /// Repeated measurements of `strategy` after the search; of several finalists, the one with the highest
  /// median.
  std::vector<Measurement> repeats;
  /// Finalists in order of falling median, `strategy` first; empty before the end, and in files without
  /// finalists.
  std::vector<Finalist> finalists;
  /// The best skip set, stored in the file's skip_sets under policy_skip_set.
  std::optional<SublayerMask> skip_set;
  Facts model;  ///< See model_facts().
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

/// Key of the settings that names the shard of a search; absent in the policy of a whole one.
inline constexpr const char* policy_shard = "shard";

/// The model's name, its checkpoint's hash and the shape that a setting depends on.
[[nodiscard]] Facts model_facts(const ModelShape& shape, std::string_view checkpoint_hash);

/// Fails if the search is under way or covers only a shard; `file` names the policy.
[[nodiscard]] Result<void> check_policy_finished(const PolicyFile& policy, std::string_view file);

/// Fails if the policy is for a model of another shape; `file` names the policy.
[[nodiscard]] Result<void> check_policy_shape(const PolicyFile& policy, const ModelShape& shape,
                                              std::string_view file);

/// One line if the policy was made for another checkpoint than the one of this hash, of the same shape; empty
/// if not, or if either hash is empty. `file` names the policy.
[[nodiscard]] std::string other_checkpoint_note(const PolicyFile& policy, std::string_view checkpoint_hash,
                                                std::string_view file);

/// Reads a policy. Errors, one line with file and field: not JSON, cut off, not a policy, fields absent,
/// unknown or of another type.
[[nodiscard]] Result<PolicyFile> read_policy(const std::filesystem::path& file);
[[nodiscard]] Result<PolicyFile> parse_policy(std::string_view text, std::string_view file);

[[nodiscard]] std::string policy_json(const PolicyFile& policy);
/// Writes a policy atomically: whole or not at all, whatever interrupts it.
[[nodiscard]] Result<void> write_policy(const std::filesystem::path& file, const PolicyFile& policy);

/// Median and range of the repeats' scores; none without repeats.
struct ScoreSpread {
  double median = 0.0;
  double minimum = 0.0;
  double maximum = 0.0;
};
[[nodiscard]] std::optional<ScoreSpread> score_spread(const std::vector<Measurement>& repeats);

}  // namespace draftscope::speculation
