// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/search_schedule.h"

#include <draftscope/simulator/analysis/run_rows.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/searches/redrafted_run.h"

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

}  // namespace
}  // namespace draftscope::simulator
