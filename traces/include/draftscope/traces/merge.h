// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Merges the recordings of one experiment whose prompts were divided among processes (`draftscope record
// --shard I/N`) into one recording. Each shard has its prompts under every strategy, including the baseline,
// so that speedups stay paired on one machine.
//
// On the merged clock, shards follow one another in their order, because simultaneous activity of two
// machines would collide on one axis. `meta.merged_shards` records each one's name, machine, clock pairs and
// the shift of its times.
//
// Inputs are untrusted: each must keep the rules of Reader::validate(), so that the whole keeps them. Rows
// are streamed: memory holds requests with their texts, layer sets, and some thousand rows of each kind.
//
// Thread-safety: independent calls may run at the same time on different targets.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/shard.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace draftscope::traces {

struct MergeOptions {
  bool is_partial = false;          ///< Whether shards may be missing.
  bool has_mixed_machines = false;  ///< Whether processors, kernels and thread counts may differ.
  bool overwrite = false;           ///< Whether to replace an existing target.
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
/// `before_end` is called before the trace is in its place, for work that may lack memory.
/// Errors name the file: not a shard's recording, or one of another experiment (the key of `meta` that
/// differs, a strategy, a prompt in two shards); a shard that was not closed, or that breaks a rule; a shard
/// twice; shards missing; "merge cancelled" if `progress` requested it.
[[nodiscard]] Result<MergeSummary> merge_shards(
    const std::vector<std::filesystem::path>& files, const MergeOptions& options,
    const std::filesystem::path& target, const Progress& progress = {},
    const std::function<void(const MergeSummary&)>& before_end = {});

/// One line that says which shards a merged recording lacks; empty if it has all, is not merged, or its
/// `merged_shards` can't be read.
[[nodiscard]] std::string missing_shards_note(const Meta& meta);

}  // namespace draftscope::traces
