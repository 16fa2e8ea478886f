// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A search over strategies that proposes the next candidate to score. Its proposals depend only on how it was
// made and on the trials it has seen, in their order: searches that saw the same trials continue alike.
// Thread-safety: none.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/policy.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace draftscope::engine {

struct Proposed {
  std::string setting;       ///< a strategy specification
  std::int32_t prompts = 0;  ///< number of prompts to score it on
  std::optional<Candidate> candidate;
  ScoredBy scored_by = ScoredBy::decoded;
  /// Whether the candidate is scored teacher-forced on no more prompts than one pass can take, the same
  /// prompts for all such trials. This serves a ranking.
  bool one_pass = false;
};

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;
  /// The next candidate, the same until it is observed. None when the search is finished.
  [[nodiscard]] virtual std::optional<Proposed> next() = 0;
  /// Takes the trial of a candidate that next() gave, now or before an interruption. Fails on a trial that
  /// the search would not have proposed.
  [[nodiscard]] virtual Result<void> observe(const Trial& trial) = 0;
  /// The best of the trials that the search has seen; null = none.
  [[nodiscard]] virtual const Trial* best(std::span<const Trial> trials) const = 0;
  /// Sum of prompts over all trials of the search, past and future.
  [[nodiscard]] virtual std::int64_t prompts_in_all() const = 0;
};

}  // namespace draftscope::engine
