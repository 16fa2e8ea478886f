// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which part of an experiment's prompts a process records. The prompts are dealt out in turn, so that each
// shard has about as many of each kind; a prompt is decoded by one shard, under every strategy.
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

namespace draftscope::traces {

struct Shard {
  std::int32_t index = 1;  ///< from 1
  std::int32_t count = 1;
  /// Whether the prompt at this place of its file is the shard's.
  [[nodiscard]] bool has(std::size_t prompt) const {
    return prompt % static_cast<std::size_t>(count) == static_cast<std::size_t>(index) - 1;
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};
inline constexpr std::int32_t max_shards = 1 << 20;

/// "2/4", as `meta.shard` has it.
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Errors: not I/N, or not 1 <= I <= N <= max_shards.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

/// "run.dstrace" -> "run.2-of-4.dstrace"
[[nodiscard]] std::filesystem::path shard_file(const std::filesystem::path& recording, const Shard& shard);

/// Text of an environment variable; none if it is not set.
using Environment = std::function<std::optional<std::string>(const char* variable)>;

/// The shard of a task that a launcher started: Open MPI's (OMPI_COMM_WORLD_RANK of _SIZE), another MPI's
/// (PMI_RANK of PMI_SIZE), a Slurm step's (SLURM_PROCID of SLURM_STEP_NUM_TASKS, if those are more than one);
/// within a Slurm array, whose tasks count (SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT), a part of the array
/// task's part. An array that was submitted for a few of its tasks has another count: those need I/N. Errors:
/// none of them is set; one of a pair is not, is no number or out of its range.
[[nodiscard]] Result<Shard> shard_of_task(const Environment& environment);

}  // namespace draftscope::traces
