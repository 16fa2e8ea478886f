// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A synthetic recording of any size, made through the trace writer: rounds with drafts and changing masks,
// phases and layers as spans.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>

namespace draftscope::bench {

struct LargeTrace {
  std::int64_t rounds = 1'000'000;
  std::int64_t spans = 9'000'000;  ///< with the rounds: the events
  std::int32_t rounds_per_request = 2000;
  std::int32_t layers = 32;
};

[[nodiscard]] Result<void> write_large_trace(const std::filesystem::path& path, const LargeTrace& size);

}  // namespace draftscope::bench
