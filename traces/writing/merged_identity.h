// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What shards must have in common, and the identity of their merged recording.

#include <draftscope/traces/merge.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/shard.h>
#include <filesystem>
#include <span>
#include <vector>

namespace draftscope::traces {

struct ShardRecording {
  std::filesystem::path path;
  Shard shard;
  Recording outline;          ///< without rounds and draft tokens
  std::int64_t shift_ns = 0;  ///< of its times, on the merged clock
};

/// Errors: as merge_shards() has them. `shards`: in the order of their index. Returns those that are missing.
[[nodiscard]] Result<std::vector<Shard>> check_one_experiment(std::span<const ShardRecording> shards,
                                                              const MergeOptions& options);

/// `end_ns`: when the merged recording ends, on its clock.
[[nodiscard]] Meta merged_meta(std::span<const ShardRecording> shards, std::int64_t end_ns);

}  // namespace draftscope::traces
