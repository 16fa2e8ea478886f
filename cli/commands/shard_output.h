// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where a shard's recording is written, and where it goes once it is whole: a task that was killed leaves no
// file of its shard's name, and one that is submitted again finds what is done.

#include <draftscope/base/result.h>
#include <draftscope/traces/shard.h>
#include <filesystem>

namespace draftscope::cli {

struct ShardOutput {
  std::filesystem::path target;   ///< "run.2-of-4.dstrace"
  std::filesystem::path partial;  ///< written until the recording has ended; the same name with ".partial"
};

/// `scratch`: the folder of the partial file; empty = the target's.
[[nodiscard]] ShardOutput shard_output(const std::filesystem::path& recording, const traces::Shard& shard,
                                       const std::filesystem::path& scratch);

/// Whether the target is there, as this shard's recording that has ended. Errors: it is another's.
[[nodiscard]] Result<bool> is_recorded(const ShardOutput& output, const traces::Shard& shard);

/// Puts the partial file in the target's place, from another file system too. Errors: the disk's; without
/// `overwrite` the target has come to be.
[[nodiscard]] Result<void> put_shard_in_place(const ShardOutput& output, bool overwrite);

}  // namespace draftscope::cli
