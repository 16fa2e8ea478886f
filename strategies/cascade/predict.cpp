// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

/// Refuses every cascade that was not recorded, by the parameters in which the nearest recorded one differs:
/// all of them decide which drafter extends the tree where.
Result<StrategyRounds> cascade_rounds(const TrainedRecording& trained,
                                      const speculation::StrategySpecification& cascade,
                                      std::string_view text, const Machine* /*machine*/) {
  const RunRows* nearest = nullptr;
  std::vector<ParameterDifference> differences;
  for (const RunRows& run : trained.runs) {
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (!recorded || !has_rounds(run) || recorded->name() != cascade.name()) continue;
    auto others = parameter_differences(cascade, *recorded);
    if (nearest != nullptr && others.size() >= differences.size()) continue;
    nearest = &run;
    differences = std::move(others);
  }
  if (nearest == nullptr)
    return fail("strategy {}: {} (approximate), expected a recorded run of it", text, cascade.no_replay());
  std::vector<std::string> named;
  named.reserve(differences.size());
  for (const ParameterDifference& other : differences)
    named.push_back(fmt::format("{}={} (recorded: {})", other.name, other.asked, other.recorded));
  return fail("strategy {}: found {} beside run {}; {} (approximate), expected a recorded run of it", text,
              fmt::join(named, ", "), nearest->run->specification, cascade.no_replay());
}

}  // namespace

StrategyPredictions predict_of_cascade() {
  return {.strategies = {{.name = "cascade", .rounds = cascade_rounds}}};
}

}  // namespace draftscope::simulator
