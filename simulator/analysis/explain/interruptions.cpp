// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/interruptions.h"

#include <draftscope/base/statistics.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/explain/thresholds.h"

namespace draftscope::simulator {

namespace {

/// Kind of rounds that run the same passes.
using RoundKind = std::tuple<traces::LayerSetId, std::int32_t, std::int32_t>;

/// Time of a round without searches of its strategy, which not every round has.
double steady_ns(const traces::Round& round) {
  return static_cast<double>(round.end_ns) - static_cast<double>(round.start_ns) -
         static_cast<double>(round.optimise_ns);
}

}  // namespace

Interruptions interruptions(std::span<const RunRows> runs) {
  Interruptions found;
  for (const RunRows& run : runs) {
    std::map<RoundKind, std::vector<double>> kinds;
    for (const RequestRows& request : run.requests)
      for (const traces::Round& round : request.rounds)
        kinds[{round.layer_set_id, round.drafted, round.verify_rows}].push_back(steady_ns(round));
    for (auto& [kind, times] : kinds) {
      if (times.size() < thresholds::min_rounds_of_kind) continue;
      const double median = upper_median(times);
      for (const double ns : times) {
        found.all_ns += ns;
        if (ns >= thresholds::interrupted_factor * median) found.lost_ns += ns - median;
      }
    }
  }
  return found;
}

}  // namespace draftscope::simulator
