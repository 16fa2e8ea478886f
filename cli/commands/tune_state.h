// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// State from which a search of `draftscope tune` continues: its own file, or the trials of its shards. Both
// must belong to the same search as the command.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/policy.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options/tune_options.h"

namespace draftscope::cli {

/// Policy in `file`, with the settings of `fresh`, this command's policy before its first trial. Errors: the
/// file has another model, other prompts or settings, or, if times count, another machine.
[[nodiscard]] Result<engine::Policy> resumed_policy(const TuneOptions& options,
                                                    const std::filesystem::path& file, engine::Policy fresh);

/// Trials of all files of --from-shards. Errors: those of resumed_policy(); a file from another build; a file
/// without a shard; a shard twice; a missing shard.
[[nodiscard]] Result<std::vector<engine::Trial>> trials_of_shards(const TuneOptions& options,
                                                                  const engine::Policy& fresh);

/// Shard that a policy names; none = the policy belongs to a whole search.
[[nodiscard]] Result<std::optional<std::string>> shard_of_policy(const std::filesystem::path& file);

}  // namespace draftscope::cli
