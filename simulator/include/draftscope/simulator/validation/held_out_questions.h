// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Questions whose answers a recording holds: each is asked of what is left when the answer is taken away.
//
// Within one recording: every repeat (learnt from the others), every run but vanilla (learnt from the other
// runs), every category of prompts (learnt from the other categories). Across recordings: the runs of one,
// learnt from another.

#include <draftscope/simulator/replay/replay_check.h>
#include <draftscope/simulator/validation/checked_answer.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct ValidationOptions {
  SweepOptions draws;
  std::optional<GpuSpecification> recorded_on;  ///< as WhatIfOptions
  /// Called after each thing that was held out. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// A question without an answer is in the result, with the reason. Errors: no vanilla run with finished
/// requests, no other run; the file can't be read. Time: a WhatIf::learn() for each thing that is held out.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_held_out(traces::Reader& reader,
                                                              const traces::Recording& recording,
                                                              const ValidationOptions& options = {});

/// The runs of `target`, from what `learnt` tells: of the prompts that both have if `learnt` has them all
/// (then rounds are compared too), else of all its own. Errors as above, of either.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_across(traces::Reader& reader,
                                                            const traces::Recording& learnt,
                                                            const traces::Recording& target,
                                                            const ValidationOptions& options = {});

/// Does the replay of each recorded policy give its rounds? One element a run that can be replayed, in the
/// recording's order; none without shadow tokens.
struct RunReplay {
  std::string strategy;
  ReplayCheck check;
};
[[nodiscard]] Result<std::vector<RunReplay>> check_replays(traces::Reader& reader,
                                                           const traces::Recording& recording);

}  // namespace draftscope::simulator
