// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A synthetic recording of any size, made through the trace writer. It has rounds with drafts and changing
// masks, decisions that change them, and phases and layers as spans; one run, or several that alternate.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>

namespace draftscope::bench {

struct LargeTrace {
  std::int64_t rounds = 1'000'000;  ///< Rounds of all runs.
  std::int64_t spans = 9'000'000;   ///< Spans of all runs.
  std::int32_t rounds_per_request = 2000;
  std::int32_t layers = 32;
  /// Runs alternate after each request; the first of several is vanilla decoding, whose rounds draft nothing.
  std::int32_t runs = 1;
  std::int32_t prompts = 1;           ///< Prompts that the runs decode by turns.
  std::int32_t rounds_per_mask = 97;  ///< Rounds between decisions that change the mask.
};

/// 14 runs of 48 requests: 24 prompts, twice.
inline constexpr LargeTrace fourteen_runs{.rounds = 14LL * 48 * 10,
                                          .spans = 14LL * 48 * 10 * 24,
                                          .rounds_per_request = 10,
                                          .runs = 14,
                                          .prompts = 24,
                                          .rounds_per_mask = 4};

[[nodiscard]] Result<void> write_large_trace(const std::filesystem::path& path, const LargeTrace& size);

}  // namespace draftscope::bench
