// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Several ranks as one backend: rank 0 decodes and tells the others what to compute, so that strategies,
// sampling and recording are there once.
//
// A command is one broadcast, or two where it is longer than 1 KiB: a pass with its rows, mask and range,
// moves of K/V rows, weights to hold, how fine to record, what was recorded, or the end.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/ranks/collective.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// Agreement of all ranks before any computes: on `what` each opened, in words that are equal where the
/// models and settings are, and on whether one failed to. The first failure, or the first rank that differs,
/// on every rank otherwise.
[[nodiscard]] Result<void> agree_to_begin(Collective& ranks, const Result<void>& own, std::string_view what);

/// Work of one of the ranks that follow, the finest of its record: operations, or layers, or passes.
struct RankSteps {
  struct Step {
    std::int32_t pass = 0;  ///< a place in Taken::passes
    std::int32_t name = 0;  ///< a place in `names`
    std::int32_t layer = -1;
    std::int64_t start_ns = 0;  ///< on rank 0's clock, but for half a message's way where machines differ
    std::int64_t end_ns = 0;
  };
  std::vector<Step> steps;
  std::vector<std::string> names;
};

/// Work of the others since they were asked last.
struct TakenSteps {
  std::vector<traces::Span>
      passes;                    ///< for each pass rank 0's span that was open: its id, phase, round, request
  std::vector<RankSteps> ranks;  ///< from rank 1 on
};

/// Rank 0's backend that has the others compute along. Destroying it ends them. Thread-safety: as Backend.
class LeadingBackend : public Backend {
 public:
  /// Nothing where no recorder is set. Errors: a rank has ended.
  [[nodiscard]] virtual Result<TakenSteps> take_steps() = 0;
};

/// `own` is rank 0's part, `ranks` outlives the backend.
[[nodiscard]] std::unique_ptr<LeadingBackend> lead(std::unique_ptr<Backend> own, Collective& ranks);

/// Computes what rank 0 says until it ends. Errors: a rank has ended.
[[nodiscard]] Result<void> follow(Backend& own, Collective& ranks);

}  // namespace draftscope::engine
