// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of passes, kind by kind, and from them the means with their errors.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/traces/ids.h>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace draftscope::simulator {

struct PassTime {
  double ns = 0.0;       ///< of all steps together
  double steps = 1.0;    ///< draft steps of the round; 1 of a target pass
  double context = 0.0;  ///< mean over the steps
  traces::RunId run_id;
  std::int64_t block = 0;  ///< requests of a block were recorded one after the other: a prompt and repeat
};
using PassTimes = std::map<MeasuredPassKind, std::vector<PassTime>>;

/// A pass that took longer than twice the median of its kind and this was interrupted: something else ran.
/// The same for all kinds, so that interruptions, which come by time, are told by the time they take; four
/// target steps. 0 without any.
[[nodiscard]] double interruption_ns(const PassTimes& times);
inline constexpr double uninterrupted_medians = 2.0;

/// All passes of a recorded run that nothing interrupted, against the means of their kinds: what its rounds
/// leave in the caches, and the noise of its repeats.
struct MeasuredRun {
  traces::RunId run_id;
  double ratio = 1.0;           ///< time / time at the means of the kinds
  double relative_error = 0.0;  ///< standard error of `ratio`, blocks of requests being what varies
};

struct MeasuredPasses {
  std::vector<MeasuredPass> passes;
  std::vector<MeasuredRun> runs;
  double interruptions_ns = 0.0;  ///< beyond what the interrupted passes take otherwise
};

/// `coefficients` of passes of a kind with so many steps at that mean context. The error of a mean comes from
/// how much blocks differ, since passes that follow one another are slow or fast together; how slow a block
/// was by all its other passes is taken out first, since it delays what the kind is compared with as well.
/// Kinds of few blocks have the others' deviation.
[[nodiscard]] MeasuredPasses measure(
    const PassTimes& times,
    const std::function<CostVector(const MeasuredPassKind& kind, double steps, double context)>&
        coefficients);

}  // namespace draftscope::simulator
