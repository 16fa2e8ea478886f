// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the options of `draftscope tune` to a search, and to what the policy file says of it.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/tuning/candidate_source.h>
#include <draftscope/engine/tuning/policy.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options/tune_options.h"

namespace draftscope::cli {

struct TuneSearch {
  std::unique_ptr<engine::CandidateSource> source;
  engine::Facts settings;  ///< everything that decides what is proposed and how it is scored
};

/// The search that the options ask for. `backend`
/// holds the model; `prompts` is their number. Errors: options contradict each other or the model.
[[nodiscard]] Result<TuneSearch> make_tune_search(const TuneOptions& options, const engine::Backend& backend,
                                                  std::int32_t prompts);

/// The policy that `file` holds, with the settings of `fresh`, this command's before its first trial. Errors:
/// it is of another model, of other prompts or settings, or, if times count, of another machine.
[[nodiscard]] Result<engine::Policy> resumed_policy(const TuneOptions& options,
                                                    const std::filesystem::path& file, engine::Policy fresh);

}  // namespace draftscope::cli
