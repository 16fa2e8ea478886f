// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/choice.h"

#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace draftscope::simulator {

namespace {

std::vector<StrategyRounds> shaped(const Candidates& candidates, const ModelShape& recorded,
                                   const ModelShape& asked) {
  std::vector<StrategyRounds> rounds;
  rounds.reserve(candidates.all.size());
  for (const Candidate& candidate : candidates.all)
    rounds.push_back(for_shape(candidate.rounds, recorded, asked));
  return rounds;
}

}  // namespace

PlacedCandidates place(const Candidates& candidates, const ModelShape& recorded, const ModelShape& asked) {
  std::vector<StrategyRounds> rounds = shaped(candidates, recorded, asked);
  PriceGroups groups(rounds, asked.n_layers);
  PlacedCandidates placed{std::move(rounds), {}, {}, std::move(groups)};
  for (std::size_t i = 0; i < placed.rounds.size(); ++i) {
    SweepSetting& setting = placed.rounds[i].setting;
    for (auto* side : {&setting.min_drafted, &setting.max_drafted})
      for (RoundStatistics& request : *side) request = placed.groups.placed(i, std::move(request));
    placed.least.push_back(sum_of(setting.min_drafted));
    placed.most.push_back(setting.max_drafted.empty() ? placed.least.back() : sum_of(setting.max_drafted));
  }
  return placed;
}

std::size_t Competition::fastest() const {
  return static_cast<std::size_t>(std::min_element(total_ns.begin(), total_ns.end()) - total_ns.begin());
}

Competition compete(const PlacedCandidates& placed, const RoundStatistics& vanilla, const Prices& prices) {
  Competition competition{.vanilla_ns = time_ns(vanilla, prices), .total_ns = {}, .is_most = {}};
  for (std::size_t i = 0; i < placed.rounds.size(); ++i) {
    const double min_ns = time_ns(placed.least[i], prices);
    const double max_ns = time_ns(placed.most[i], prices);
    competition.total_ns.push_back(std::max(min_ns, max_ns));
    competition.is_most.push_back(max_ns > min_ns);
  }
  return competition;
}

const std::vector<RoundStatistics>& slower(const PlacedCandidates& placed, const Competition& competition,
                                           std::size_t candidate) {
  const SweepSetting& setting = placed.rounds[candidate].setting;
  return competition.is_most[candidate] ? setting.max_drafted : setting.min_drafted;
}

SweepSetting cross_fitted(const PlacedCandidates& placed, const std::vector<RoundStatistics>& vanilla,
                          const Prices& prices, std::size_t folds) {
  const Competition competition = compete(placed, sum_of(vanilla), prices);
  const std::size_t requests = vanilla.size();
  SweepSetting chosen{.status = AnswerStatus::exact, .min_drafted = vanilla, .max_drafted = {}};
  std::vector<double> best(folds);
  std::vector<AnswerStatus> status(folds, AnswerStatus::exact);
  for (std::size_t i = 0; i < requests; ++i) {
    const double time = time_ns(vanilla[i], prices);
    for (std::size_t fold = 0; fold < folds; ++fold)
      if (i % folds != fold) best[fold] += time;
  }
  for (std::size_t candidate = 0; candidate < placed.rounds.size(); ++candidate) {
    const std::vector<RoundStatistics>& rounds = slower(placed, competition, candidate);
    std::vector<double> training(folds);
    for (std::size_t i = 0; i < requests; ++i) {
      const double time = time_ns(rounds[i], prices);
      for (std::size_t fold = 0; fold < folds; ++fold)
        if (i % folds != fold) training[fold] += time;
    }
    for (std::size_t fold = 0; fold < folds; ++fold) {
      if (!(training[fold] < best[fold])) continue;
      best[fold] = training[fold];
      status[fold] = placed.rounds[candidate].setting.status;
      for (std::size_t i = fold; i < requests; i += folds) chosen.min_drafted[i] = rounds[i];
    }
  }
  chosen.status = *std::max_element(status.begin(), status.end());
  return chosen;
}

}  // namespace draftscope::simulator
