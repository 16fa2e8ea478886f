// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a search of `draftscope tune` goes on from: its own file, or the trials of its shards. Both must be of
// the same search as the command's.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/policy.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options/tune_options.h"

namespace draftscope::cli {

/// The policy that `file` holds, with the settings of `fresh`, this command's before its first trial. Errors:
/// it is of another model, of other prompts or settings, or, if times count, of another machine.
[[nodiscard]] Result<engine::Policy> resumed_policy(const TuneOptions& options,
                                                    const std::filesystem::path& file, engine::Policy fresh);

/// The trials of all of --from-shards. Errors: as of resumed_policy(); one of another build; a file of no
/// shard; a shard twice, one that is missing.
[[nodiscard]] Result<std::vector<engine::Trial>> trials_of_shards(const TuneOptions& options,
                                                                  const engine::Policy& fresh);

/// The shard that a policy says it is; none = it is of a whole search.
[[nodiscard]] Result<std::optional<std::string>> shard_of_policy(const std::filesystem::path& file);

}  // namespace draftscope::cli
