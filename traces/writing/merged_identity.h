// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Common properties that shards must have, and the identity of their merged recording.

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
  Recording outline;          ///< The recording without rounds and draft tokens.
  std::int64_t shift_ns = 0;  ///< Shift of its times on the merged clock.
};

/// Returns the missing shards. `shards`: in the order of their index. Errors: as merge_shards().
[[nodiscard]] Result<std::vector<Shard>> check_one_experiment(std::span<const ShardRecording> shards,
                                                              const MergeOptions& options);

/// `end_ns`: end of the merged recording, on its clock.
[[nodiscard]] Meta merged_meta(std::span<const ShardRecording> shards, std::int64_t end_ns);

}  // namespace draftscope::traces
