// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/run_rows.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/searches/redrafted_run.h"
#include "rounds/searches/search_schedule.h"
#include "rounds/searches/set_agreement.h"

namespace draftscope::simulator {

namespace {

constexpr std::int32_t n_layers = 12;

SearchSchedule schedule(const std::string& strategy, std::int64_t max_searches = -1) {
  return {speculation::parse_strategy(strategy, n_layers).value(), n_layers, max_searches};
}

/// Rounds that a search follows, among rounds of three tokens each with `steps` draft steps.
std::vector<int> rounds_with_search(SearchSchedule made, int rounds, std::int32_t steps = 4) {
  std::vector<int> found;
  made.begin_request();
  for (int round = 0; round < rounds; ++round)
    if (made.follows({.tree_depth = steps, .accepted = 2, .emitted = 3})) found.push_back(round);
  return found;
}

TEST(SearchSchedule, OfClaspCountsTokensOrVerifications) {
  // After 3 and 6 tokens the interval of 7 is not complete; the round at 6 tokens is planned with a search.
  EXPECT_EQ(rounds_with_search(schedule("clasp:interval=7"), 8), (std::vector<int>{2, 5}));
  EXPECT_EQ(rounds_with_search(schedule("clasp:interval=4,unit=verifications"), 8), (std::vector<int>{3, 7}));
}

TEST(SearchSchedule, OfSwiftWaitsForItsWindowAndEnds) {
  EXPECT_EQ(rounds_with_search(schedule("swift:window=8"), 6), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(rounds_with_search(schedule("swift:window=8,every=2"), 8), (std::vector<int>{3, 5, 7}));
  EXPECT_EQ(rounds_with_search(schedule("swift:window=8", 2), 6), (std::vector<int>{2, 3}));
  EXPECT_EQ(rounds_with_search(schedule("swift:window=8,max-iterations=1"), 6), (std::vector<int>{2}));
}

TEST(SearchSchedule, OfKnapSpecCountsRoundsOfTheRequest) {
  EXPECT_EQ(rounds_with_search(schedule("knapspec:interval=3"), 8), (std::vector<int>{2, 5}));
}

TEST(SearchSchedule, OfConfLayersWaitsForItsWindowAndTriesEachSet) {
  // 1 + 3·3 tokens exceed 8 + 1; a set is tried for three rounds and judged with the next.
  EXPECT_EQ(rounds_with_search(schedule("conflayers:window=8,interval=3"), 12), (std::vector<int>{2, 6, 10}));
  // Sets that hardly draft are abandoned after half of the rounds, if their number is even.
  SearchSchedule made = schedule("conflayers:window=8,interval=4");
  std::vector<int> found;
  made.begin_request();
  for (int round = 0; round < 9; ++round)
    if (made.follows({.tree_depth = 4, .accepted = 0, .emitted = 5})) found.push_back(round);
  EXPECT_EQ(found, (std::vector<int>{1, 3, 5, 7}));
  EXPECT_EQ(rounds_with_search(schedule("conflayers:window=8,interval=3,max-iterations=1"), 12),
            (std::vector<int>{2}));
}

TEST(SearchSchedule, OfOthersHasNone) {
  EXPECT_TRUE(rounds_with_search(schedule("layerskip"), 8).empty());
  EXPECT_TRUE(rounds_with_search(schedule("vanilla"), 8).empty());
}

TEST(EndedSearches, AreKnownByTheLastRoundThatMayHaveOne) {
  struct Searched {
    std::vector<std::vector<std::int64_t>> optimise_ns;  // [request][round]
    std::int64_t ended;
  };
  for (const Searched& searched :
       {Searched{{{0, 5, 5, 0}}, -1}, Searched{{{0, 5, 0, 0}}, 1}, Searched{{{5, 5, 0}, {5, 0}}, -1},
        Searched{{{5, 5, 0}, {0}}, -1}, Searched{{{5, 5}}, -1}}) {
    std::vector<std::vector<traces::Round>> rounds;
    for (const std::vector<std::int64_t>& request : searched.optimise_ns)
      for (auto& of_request = rounds.emplace_back(); const std::int64_t ns : request)
        of_request.emplace_back().optimise_ns = ns;
    RunRows run;
    for (const std::vector<traces::Round>& request : rounds) run.requests.emplace_back().rounds = request;
    EXPECT_EQ(ended_searches(run), searched.ended) << run.requests.size() << " requests";
  }
}

TEST(SearchSchedule, IsTheEnginesOwnInARecording) {
  auto reader =
      traces::Reader::open(std::string(DRAFTSCOPE_SOURCE_DIR) + "/traces/samples/early-exit.dstrace");
  ASSERT_TRUE(reader) << reader.error().message;
  const traces::Recording recording = reader->recording().value();
  int searching_runs = 0;
  for (const RunRows& run : rows_by_run(recording)) {
    const auto strategy = run_specification(*run.run, n_layers).value();
    if (strategy.name() != "clasp") continue;
    ++searching_runs;
    SearchSchedule made(strategy, n_layers, ended_searches(run));
    for (const RequestRows& rows : run.requests) {
      std::vector<traces::Round> rounds(rows.rounds.begin(), rows.rounds.end());
      mark_searches(made, rounds);
      // After a request's last round there is nothing to search for.
      for (std::size_t i = 0; i + 1 < rounds.size(); ++i)
        EXPECT_EQ(rounds[i].optimise_ns > 0, rows.rounds[i].optimise_ns > 0) << "round " << i;
    }
  }
  EXPECT_EQ(searching_runs, 1);
}

constexpr std::size_t sublayers = 24;

/// Cost of a sublayer whose shares multiply: MLPs cost twice as much as attentions, and one of them much
/// more.
double planted_cost(std::size_t sublayer) {
  if (sublayer == 5) return 0.2;
  return sublayer % 2 == 0 ? 0.02 : 0.04;
}

double planted_agreement(const SkippedSublayers& skipped) {
  double cost = 0.0;
  for (std::size_t i = 0; i < skipped.size(); ++i) cost += skipped[i] ? planted_cost(i) : 0.0;
  return std::exp(-cost);
}

SkippedSublayers random_set(std::size_t size, std::mt19937& random) {
  SkippedSublayers skipped(sublayers);
  for (std::size_t i = 0; i < size; ++i) skipped[random() % sublayers] = true;
  return skipped;
}

std::vector<TriedSet> tried_sets(std::size_t count, int judged, std::mt19937& random) {
  std::vector<TriedSet> tried;
  for (std::size_t i = 0; i < count; ++i) {
    TriedSet set{.skipped = random_set(4 + random() % 8, random), .judged = static_cast<double>(judged)};
    std::binomial_distribution<int> right(judged, planted_agreement(set.skipped));
    set.right = right(random);
    tried.push_back(set);
  }
  return tried;
}

TEST(SetAgreement, BoundsSetsThatNobodyTried) {
  std::mt19937 random(5);
  int inside = 0;
  int all = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto agreement = SetAgreement::fit(tried_sets(60, 32, random));
    ASSERT_TRUE(agreement);
    for (int i = 0; i < 20; ++i) {
      const SkippedSublayers asked = random_set(1 + random() % 14, random);
      const ExpectedAgreement expected = agreement->of(asked);
      EXPECT_LE(expected.low, expected.mean);
      EXPECT_LE(expected.mean, expected.high);
      const double truth = planted_agreement(asked);
      inside += expected.low <= truth && truth <= expected.high ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(inside, all * 93 / 100);
}

TEST(SetAgreement, LearnsWhichSublayersMatter) {
  std::mt19937 random(7);
  const auto agreement = SetAgreement::fit(tried_sets(300, 64, random));
  SkippedSublayers ordinary(sublayers);
  SkippedSublayers dear(sublayers);
  ordinary[7] = true;
  dear[5] = true;
  EXPECT_NEAR(agreement->of(ordinary).mean, std::exp(-0.04), 0.03);
  EXPECT_NEAR(agreement->of(dear).mean, std::exp(-0.2), 0.05);
}

TEST(SetAgreement, OfTheWholeModelIsNearlyCertain) {
  std::mt19937 random(9);
  const auto agreement = SetAgreement::fit(tried_sets(10, 32, random));
  EXPECT_DOUBLE_EQ(agreement->of(SkippedSublayers(sublayers)).mean, 1.0);
  EXPECT_FALSE(SetAgreement::fit({}));
}

TEST(SetAgreement, OfATriedSetGoesFromTheModelToWhatWasSeen) {
  std::mt19937 random(11);
  const auto agreement = SetAgreement::fit(tried_sets(100, 32, random));
  ASSERT_TRUE(agreement);
  for (int trial = 0; trial < 50; ++trial) {
    TriedSet set{.skipped = random_set(4 + random() % 8, random)};
    const ExpectedAgreement modelled = agreement->of(set.skipped);
    EXPECT_DOUBLE_EQ(agreement->of(set).mean, modelled.mean);
    const double share = 0.3 + 0.01 * static_cast<double>(random() % 60);
    double width = modelled.high - modelled.low;
    double distance = std::abs(modelled.mean - share);
    for (const double judged : {40.0, 400.0, 4e4, 4e6}) {
      set.judged = judged;
      set.right = share * judged;
      const ExpectedAgreement seen = agreement->of(set);
      EXPECT_LE(seen.low, seen.mean);
      EXPECT_LE(seen.mean, seen.high);
      EXPECT_LE(std::abs(seen.mean - share), distance + 0.02);
      distance = std::abs(seen.mean - share);
      width = seen.high - seen.low;
    }
    EXPECT_LT(distance, 0.01);
    EXPECT_LT(width, 0.03);
  }
}

}  // namespace

}  // namespace draftscope::simulator
