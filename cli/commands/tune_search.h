// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the options of `draftscope tune` to a search, and to what the policy file says of it.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/tuning/candidate_source.h>
#include <memory>

#include "options/tune_options.h"

namespace draftscope::cli {

/// The key of a policy's settings that says which shard's it is.
inline constexpr const char* tune_shard_setting = "shard";

struct TuneSearch {
  std::unique_ptr<engine::CandidateSource> source;
  engine::Facts settings;  ///< everything that decides what is proposed and how it is scored
};

/// The search that the options ask for, over the shard's part of the grid if they name a shard. `backend`
/// holds the model; `prompts` is their number. Errors: options contradict each other or the model.
[[nodiscard]] Result<TuneSearch> make_tune_search(const TuneOptions& options, const engine::Backend& backend,
                                                  std::int32_t prompts);

}  // namespace draftscope::cli
