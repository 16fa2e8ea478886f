// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes a search from the options of `draftscope tune`, with the facts that the policy file states about it.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/tuning/candidate_source.h>
#include <memory>

#include "options/tune_options.h"

namespace draftscope::cli {

struct TuneSearch {
  std::unique_ptr<engine::CandidateSource> source;
  engine::Facts settings;  ///< Everything that decides which settings are proposed and how they are scored.
};

/// Search for the options, over the shard's part of the grid if they name a shard. `backend` holds the model;
/// `prompts` is the number of prompts. Errors: options contradict each other or the model.
[[nodiscard]] Result<TuneSearch> make_tune_search(const TuneOptions& options, const engine::Backend& backend,
                                                  std::int32_t prompts);

}  // namespace draftscope::cli
