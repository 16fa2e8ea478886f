// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings of one experiment whose prompts were divided among processes (`draftscope record --shard I/N`)
// as one recording. Each shard holds its prompts under every strategy, the baseline among them, so that
// speedups stay paired on one machine.
//
// Shards lie one behind another on the merged clock, in their order: what two machines did at the same time
// would be in each other's way on one axis. `meta.merged_shards` keeps each one's name, machine, clock pairs
// and the shift of its times.
//
// Inputs are untrusted. Rows are streamed: memory holds requests with their texts, layer sets, and some
// thousand rows of each kind.
//
// Thread-safety: independent calls may run at the same time on different targets.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/shard.h>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace draftscope::traces {

struct MergeOptions {
  bool is_partial = false;          ///< shards may be missing
  bool has_mixed_machines = false;  ///< processors, kernels and thread counts may differ
  bool overwrite = false;           ///< replace an existing target
};

struct MergeSummary {
  std::int32_t shards = 0;
  std::vector<Shard> missing;
  std::int64_t requests = 0;
  std::int64_t rounds = 0;
  std::int64_t spans = 0;
  std::int64_t kernels = 0;
};

/// Writes the shards' recording, whole or not at all, whatever their order. Progress is in bytes of input.
/// Errors name the file: no shard's recording, or one of another experiment (the key of `meta` that differs,
/// a strategy, a prompt in two shards); one that was not closed; a shard twice; shards missing; "merge
/// cancelled" if `progress` said so.
[[nodiscard]] Result<MergeSummary> merge_shards(const std::vector<std::filesystem::path>& files,
                                                const MergeOptions& options,
                                                const std::filesystem::path& target,
                                                const Progress& progress = {});

}  // namespace draftscope::traces
