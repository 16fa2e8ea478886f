// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes rows of other engines' requests. Several requests may be in progress at a time, each named by a key
// of the engine's.
//
// Memory: the data of requests in progress, and the keys and prompts of all. Thread-safety: one thread at a
// time.

#include <draftscope/base/result.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "foreign/foreign_round.h"

namespace draftscope::traces {

/// The name of vanilla decoding in files of other programs.
inline constexpr std::string_view baseline_name = "vanilla";

/// A run of another engine, by its specification. Vanilla decoding is a baseline whether or not the engine
/// said so.
[[nodiscard]] inline Run foreign_run(const std::string& specification, bool is_baseline,
                                     const std::string& parameters) {
  Run run;
  run.strategy = specification.substr(0, specification.find(':'));
  run.specification = specification;
  run.parameters = parameters;
  run.is_baseline = is_baseline || run.strategy == baseline_name;
  return run;
}

/// The engine's report of a request's beginning.
struct ForeignStart {
  std::string run;
  std::int64_t start_ns = -1;         ///< Start time; -1 = unknown.
  std::optional<std::string> prompt;  ///< Text that was tokenized.
  std::optional<std::vector<std::int32_t>> prompt_tokens;
  std::int64_t n_prompt_tokens = -1;  ///< Number of prompt tokens where their ids are not known.
  std::int64_t question_id = -1;      ///< Question id; -1 = numbered in order of arrival.
  std::string category;
  std::int64_t turn = 0;
  std::int64_t repeat = 0;
  std::uint64_t seed = 0;
};

class ForeignWriter {
 public:
  struct Counts {
    std::int64_t runs = 0;
    std::int64_t requests = 0;  ///< Requests that ended.
    std::int64_t rounds = 0;
    std::int64_t rows = 0;  ///< Rows of all tables.
  };

  /// Creates a writer of rows; `writer` must outlive it.
  explicit ForeignWriter(Writer& writer) : writer_(writer) {}

  /// The run of that specification, created if it is new; "vanilla" is always a baseline.
  RunId run(const std::string& specification, bool is_baseline, const std::string& parameters = "{}");

  // Errors of the following functions: a key that has already begun, never began or has ended; too many
  // requests in progress; a value that breaks a rule of the schema. After an error nothing is written.
  // `where` begins every error.
  [[nodiscard]] Result<void> begin(const std::string& key, const ForeignStart& said,
                                   const std::string& where);
  [[nodiscard]] Result<void> round(const std::string& key, const ForeignRound& said,
                                   const std::string& where);
  [[nodiscard]] Result<void> end(const std::string& key, const ForeignEnd& said, const std::string& where);
  /// Ends the requests in progress as cancelled, at the end of their last rounds.
  [[nodiscard]] Result<void> cancel_all(const std::string& where);

  [[nodiscard]] bool is_open(const std::string& key) const { return open_.contains(key); }
  /// The key of any request in progress.
  [[nodiscard]] std::optional<std::string> open_key() const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::set<MissingData>& missing() const { return missing_; }
  /// Notes that data is missing; `meta` says so at once, so that a crash does not lose it.
  void note(const std::set<MissingData>& missing);

 private:
  PromptId prompt_of(const ForeignStart& said, const std::string& key);
  [[nodiscard]] Result<ForeignRequest*> under_way(const std::string& key, const std::string& where);

  Writer& writer_;
  std::map<std::string, RunId> runs_;
  std::unordered_map<std::string, PromptId> prompts_;
  std::unordered_map<std::string, ForeignRequest> open_;
  std::unordered_set<std::string> begun_;
  std::set<MissingData> missing_;
  std::int64_t place_ns_ = 0;  ///< Time at which the next request without times is placed.
  Counts counts_;
};

}  // namespace draftscope::traces
