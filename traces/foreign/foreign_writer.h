// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows of other engines' requests, several of them under way at a time, each named by a key of the engine's.
//
// Memory: what requests under way need, and the keys and prompts of all. Thread-safety: one thread at a time.

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

/// A run of another engine, by its specification. Vanilla decoding is a baseline, whether that was said or
/// not.
[[nodiscard]] inline Run foreign_run(const std::string& specification, bool is_baseline,
                                     const std::string& parameters) {
  Run run;
  run.strategy = specification.substr(0, specification.find(':'));
  run.specification = specification;
  run.parameters = parameters;
  run.is_baseline = is_baseline || run.strategy == baseline_name;
  return run;
}

/// How a request began.
struct ForeignStart {
  std::string run;
  std::int64_t start_ns = -1;         ///< -1 = unknown
  std::optional<std::string> prompt;  ///< what was tokenized
  std::optional<std::vector<std::int32_t>> prompt_tokens;
  std::int64_t n_prompt_tokens = -1;  ///< where the tokens themselves are not known
  std::int64_t question_id = -1;      ///< -1 = numbered as they come
  std::string category;
  std::int64_t turn = 0;
  std::int64_t repeat = 0;
  std::uint64_t seed = 0;
};

class ForeignWriter {
 public:
  struct Counts {
    std::int64_t runs = 0;
    std::int64_t requests = 0;  ///< that ended
    std::int64_t rounds = 0;
    std::int64_t rows = 0;  ///< of all tables
  };

  /// The writer must outlive this.
  explicit ForeignWriter(Writer& writer) : writer_(writer) {}

  /// The run of that specification, made when it is new; "vanilla" is a baseline whatever is said.
  RunId run(const std::string& specification, bool is_baseline, const std::string& parameters = "{}");

  // Errors: a key that began already, or never began or has ended; too many under way; a value that breaks a
  // rule of the schema. Nothing is written then. `where` begins every error.
  [[nodiscard]] Result<void> begin(const std::string& key, const ForeignStart& said,
                                   const std::string& where);
  [[nodiscard]] Result<void> round(const std::string& key, const ForeignRound& said,
                                   const std::string& where);
  [[nodiscard]] Result<void> end(const std::string& key, const ForeignEnd& said, const std::string& where);
  /// Ends what is under way as cancelled, where its last round ended.
  [[nodiscard]] Result<void> cancel_all(const std::string& where);

  [[nodiscard]] bool is_open(const std::string& key) const { return open_.contains(key); }
  /// Any request under way.
  [[nodiscard]] std::optional<std::string> open_key() const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::set<MissingData>& missing() const { return missing_; }
  /// Keeps that something is not there; `meta` says so at once, so that a crash does not lose it.
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
  std::int64_t place_ns_ = 0;  ///< where the next request without times stands
  Counts counts_;
};

}  // namespace draftscope::traces
