// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/replayed_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace draftscope::simulator {
namespace {

constexpr std::int32_t model_layers = 12;

speculation::StrategySpecification clasp(const std::string& parameters) {
  return speculation::parse_strategy("clasp:" + parameters, model_layers).value();
}

/// A run of a periodic search, with what its drafts said of each position.
struct PeriodicRun {
  RunRows rows;
  std::vector<DraftedPositions> positions;
  std::deque<std::vector<traces::Round>> rounds;
};

/// Rounds of random lengths, of which every third or so a search follows. A token is wrong with a share that
/// grows with each doubling of the set's age, and falls along the output.
PeriodicRun random_run(std::mt19937& random, int requests, double wrong, double wrong_per_doubling) {
  PeriodicRun run;
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int request = 0; request < requests; ++request) {
    std::vector<traces::Round>& rounds = run.rounds.emplace_back();
    DraftedPositions& positions = run.positions.emplace_back();
    const double hard = 0.2 * unit(random);
    int age = 0;
    for (int i = 0; i < 60; ++i) {
      traces::Round& round = rounds.emplace_back();
      round.emitted = 1 + static_cast<std::int32_t>(random() % 6);
      for (int token = 0; token < round.emitted; ++token, ++age)
        positions.push_back({.bit = unit(random) < wrong + hard +
                                                       wrong_per_doubling * std::floor(std::log2(1 + age)) -
                                                       0.03 * std::floor(std::log2(1 + positions.size()))
                                        ? AcceptanceBit::rejected
                                        : AcceptanceBit::accepted});
      round.optimise_ns = i + 1 < 60 && random() % 8 == 0 ? 1 : 0;
      if (round.optimise_ns > 0) age = 0;
    }
    run.rows.requests.push_back({.rounds = rounds});
  }
  return run;
}

TEST(AgeRegression, FindsHowTokensTurnWrongAsASetGrowsOld) {
  for (const double planted : {0.0, 0.02, 0.05}) {
    int inside = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::mt19937 random(seed);
      const PeriodicRun run = random_run(random, 20, 0.3, planted);
      AgeRegression regression;
      regression.add(run.rows, run.positions);
      const AgeSlope slope = regression.slope();
      EXPECT_LT(slope.error, 0.01);
      inside += std::abs(slope.wrong_per_doubling - planted) <= 2.0 * slope.error ? 1 : 0;
    }
    EXPECT_GE(inside, 17) << planted;
  }
}

TEST(AgeRegression, IsThePriorWhereEachRequestHasOneSet) {
  std::mt19937 random(7);
  PeriodicRun run = random_run(random, 20, 0.3, 0.05);
  for (std::vector<traces::Round>& rounds : run.rounds)
    for (traces::Round& round : rounds) round.optimise_ns = 0;
  AgeRegression regression;
  regression.add(run.rows, run.positions);
  EXPECT_EQ(regression.slope().wrong_per_doubling, AgeSlope().wrong_per_doubling);
  EXPECT_EQ(regression.slope().error, AgeSlope().error);
}

TEST(ReplayedSchedule, IsTheRecordedOneUpToTheFirstSearchThatDiffers) {
  std::mt19937 random(3);
  const speculation::StrategySpecification recorded = clasp("interval=20");
  // The rounds of a recorded run, with the searches of the engine's rule.
  PeriodicRun run = random_run(random, 5, 0.1, 0.0);
  const ScoredCandidates none;
  const LayerSetsById sets;
  const ReplayedSearch planned = replayed_schedule({run.rows, recorded, none, sets, model_layers}, recorded);
  for (std::size_t request = 0; request < run.rounds.size(); ++request)
    for (std::size_t i = 0; i < run.rounds[request].size(); ++i)
      run.rounds[request][i].optimise_ns = planned.rounds[request][i].is_followed ? 1 : 0;
  for (const char* const asked :
       {"interval=20", "interval=5", "interval=60", "interval=4,unit=verifications"}) {
    const ReplayedSearch search =
        replayed_schedule({run.rows, recorded, none, sets, model_layers}, clasp(asked));
    EXPECT_EQ(searches_as_recorded(search, run.rows), std::string(asked) == "interval=20");
    std::int64_t searches = 0;
    for (std::size_t request = 0; request < run.rounds.size(); ++request) {
      bool is_same = true;
      std::int32_t age = 0;
      for (std::size_t i = 0; i < run.rounds[request].size(); ++i) {
        const SearchedRound& round = search.rounds[request][i];
        EXPECT_EQ(round.draft == RoundSet::recorded, is_same);
        EXPECT_EQ(round.asked_age, age);
        if (is_same) {
          EXPECT_EQ(round.recorded_age, round.asked_age);
        }
        searches += round.is_followed ? 1 : 0;
        age = round.is_followed ? 0 : age + run.rounds[request][i].emitted;
        is_same = is_same && round.is_followed == (run.rounds[request][i].optimise_ns > 0);
      }
    }
    EXPECT_EQ(search.searches, searches);
  }
}

TEST(ShiftedPositions, HaveTheAgreementOfTheirGroupAndElsewhereWhatWasSeen) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const PeriodicRun run = random_run(random, 3, 0.3, 0.0);
    PositionGroups groups = one_group(run.positions, {});
    groups.agreement.resize(2);
    for (std::vector<std::int32_t>& request : groups.group)
      for (std::int32_t& group : request) group = static_cast<std::int32_t>(random() % 3) - 1;
    const std::vector<double> asked{0.2 + 0.007 * static_cast<double>(random() % 100), 0.5};
    const std::vector<DraftedPositions> shifted_ones = shifted(run.positions, groups, asked);
    const std::vector<Seen> seen = seen_by_group(shifted_ones, groups);
    for (std::size_t group = 0; group < seen.size(); ++group)
      EXPECT_NEAR(seen[group].right, asked[group] * seen[group].judged, 0.5 + 1e-9);
    for (std::size_t request = 0; request < groups.group.size(); ++request)
      for (std::size_t i = 0; i < groups.group[request].size(); ++i)
        if (groups.group[request][i] == PositionGroups::as_seen) {
          EXPECT_EQ(shifted_ones[request][i].bit, run.positions[request][i].bit);
        }
  }
}

}  // namespace
}  // namespace draftscope::simulator
