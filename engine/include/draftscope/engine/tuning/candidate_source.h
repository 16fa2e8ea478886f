// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a search over strategies wants scored next. What it proposes follows from how it was made and from the
// trials it has seen, in their order: a search that saw the same trials goes on alike.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/policy.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace draftscope::engine {

struct Proposed {
  std::string setting;       ///< a strategy specification
  std::int32_t prompts = 0;  ///< how many to score it on
  std::optional<Candidate> candidate;
};

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;
  /// None when the search is over.
  [[nodiscard]] virtual std::optional<Proposed> next() = 0;
  /// A trial of what next() gave, now or before an interruption. Fails on one that it would not have
  /// proposed.
  [[nodiscard]] virtual Result<void> observe(const Trial& trial) = 0;
  /// The best of the trials that it has seen; null = none.
  [[nodiscard]] virtual const Trial* best(std::span<const Trial> trials) const = 0;
  /// Σ prompts over all trials of the search.
  [[nodiscard]] virtual std::int64_t prompts_in_all() const = 0;
};

}  // namespace draftscope::engine
