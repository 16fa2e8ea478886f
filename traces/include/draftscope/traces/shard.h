// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The part of an experiment that a process does: of its prompts, if it records (one shard decodes a prompt
// under every strategy); of its settings, if it tunes; of its questions, if it simulates. They are dealt out
// in turn, so that each shard has about as many of each kind.
//
// Thread-safety: values; functions without state.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

struct Shard {
  std::int32_t index = 1;  ///< Index from 1.
  std::int32_t count = 1;
  /// Whether the prompt, setting or question at this place of the whole belongs to the shard.
  [[nodiscard]] bool has(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(index) - 1;
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};
inline constexpr std::int32_t max_shards = 1 << 20;

/// Text for `meta.shard`: "2/4".
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Text that names shards, of many the first eight: "2/4, 3/4".
[[nodiscard]] std::string shards_text(const std::vector<Shard>& shards);
/// Parses I/N. Errors: not I/N, or not 1 <= I <= N <= max_shards.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

/// The file of a shard: "run.dstrace" -> "run.2-of-4.dstrace".
[[nodiscard]] std::filesystem::path shard_file(const std::filesystem::path& recording, const Shard& shard);

/// A file that states its shard.
struct ShardFile {
  std::filesystem::path path;
  Shard shard;
};

/// The shards without a file, in order. Errors: no file; a shard of another count than the first file's, or
/// one twice; missing ones, unless `is_partial`.
[[nodiscard]] Result<std::vector<Shard>> missing_shards(std::vector<ShardFile> files, bool is_partial);

/// Text of an environment variable; none if it is not set.
using Environment = std::function<std::optional<std::string>(const char* variable)>;

/// The shard of a task that a launcher started: Open MPI's (OMPI_COMM_WORLD_RANK of _SIZE), another MPI's
/// (PMI_RANK of PMI_SIZE), a Slurm step's (SLURM_PROCID of SLURM_STEP_NUM_TASKS, if those are more than one).
/// Within a Slurm array, whose tasks count (SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT), it is a part of the
/// array task's part. An array that was submitted for a few of its tasks has another count and needs I/N.
/// Errors: none of them is set; one of a pair is not, is no number or out of its range.
[[nodiscard]] Result<Shard> shard_of_task(const Environment& environment);

}  // namespace draftscope::traces
