// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what a search proposes, when it adopts a set, and when it stops.

#include <draftscope/engine/search.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <map>

#include "scored_sets.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

SearchOptions small_swift() {
  auto options = swift_search(12, 0.45);
  options.gp_interval = 5;
  options.random_points = 500;
  options.random_starts = 3;
  return options;
}

/// The next candidates of a search, each of which gets the score that it is worth.
std::vector<Candidate> scored_candidates(LayerSetSearch& search, int count) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < count; ++i) {
    candidates.push_back(search.propose());
    EXPECT_TRUE(search.observe(candidates.back(), worth(candidates.back().mask)));
  }
  return candidates;
}

TEST(SwiftSearch, HasThePublishedNumbersOfSkippedSublayers) {
  EXPECT_EQ(swift_search(40, 0.45).skipped_sublayers, 34);  // LLaMA-2-13B
  EXPECT_EQ(swift_search(80, 0.5).skipped_sublayers, 78);   // LLaMA-2-70B
  EXPECT_EQ(swift_search(48, 0.5).skipped_sublayers, 46);   // CodeLlama-34B
}

TEST(SwiftSearch, StartsFromEverySecondLayer) {
  const auto set = swift_initial_set(40);
  EXPECT_EQ(skipped_of(set), 38);
  EXPECT_TRUE(set.runs_attention(0) && set.runs_attention(2) && set.runs_attention(39));
  EXPECT_TRUE(!set.runs_attention(1) && !set.runs_mlp(37));
  EXPECT_EQ(LayerSetSearch::create(swift_search(40, 0.45))->best_set(), set);
}

TEST(SwiftSearch, SkipsExactlyKAndNeverAnEndAndAsksTheModelEveryBetaThTime) {
  auto search = LayerSetSearch::create(small_swift()).value();
  int proposed = 0;
  for (const Candidate& candidate : scored_candidates(search, 40)) {
    EXPECT_EQ(candidate.origin, ++proposed % 5 == 0 ? CandidateOrigin::model : CandidateOrigin::random);
    EXPECT_EQ(skipped_of(candidate.mask), 9);
    EXPECT_TRUE(candidate.mask.runs_attention(0) && candidate.mask.runs_mlp(0));
    EXPECT_TRUE(candidate.mask.runs_attention(11) && candidate.mask.runs_mlp(11));
    EXPECT_EQ(candidate.point.size(), 20U);
  }
}

TEST(SwiftSearch, SkipsTheLargestComponentsOfTheModelsPoint) {
  auto search = LayerSetSearch::create(small_swift()).value();
  scored_candidates(search, 4);
  const auto candidate = search.propose();
  ASSERT_EQ(candidate.origin, CandidateOrigin::model);
  double min_skipped = 1.0;
  double max_kept = 0.0;
  const auto sort_in = [&](bool runs, double component) {
    if (runs)
      max_kept = std::max(max_kept, component);
    else
      min_skipped = std::min(min_skipped, component);
  };
  for (std::int32_t layer = 1; layer < 11; ++layer) {
    const auto place = static_cast<std::size_t>(layer - 1);
    sort_in(candidate.mask.runs_attention(layer), candidate.point[place]);
    sort_in(candidate.mask.runs_mlp(layer), candidate.point[place + 10]);
  }
  EXPECT_GE(min_skipped, max_kept);
}

// χ² over how often each of the C(6, 3) = 20 sets is drawn, with the 99.9 % quantile for 19 degrees of
// freedom.
TEST(SwiftSearch, DrawsEverySetEquallyOften) {
  auto options = swift_search(5, 0.5);
  options.gp_interval = 0;
  ASSERT_EQ(options.skipped_sublayers, 3);
  auto search = LayerSetSearch::create(options).value();
  std::map<std::vector<double>, int> counts;
  constexpr int draws = 8000;
  for (int i = 0; i < draws; ++i) {
    const auto candidate = search.propose();
    ++counts[candidate.point];
    ASSERT_TRUE(search.observe(candidate, 0.0));
  }
  ASSERT_EQ(counts.size(), 20U);
  double statistic = 0.0;
  for (const auto& [set, count] : counts) statistic += std::pow(count - draws / 20.0, 2) / (draws / 20.0);
  EXPECT_LT(statistic, 43.82);
}

TEST(DraftVerifySearch, CutsThePointAtOneHalfOverAllLayers) {
  auto options = draft_verify_search(6);
  options.random_points = 200;
  auto search = LayerSetSearch::create(options).value();
  bool skipped_an_end = false;
  const auto candidates = scored_candidates(search, 12);
  for (const Candidate& candidate : candidates) {
    const bool is_first = &candidate == &candidates.front();
    EXPECT_EQ(candidate.origin, is_first ? CandidateOrigin::random : CandidateOrigin::model);
    ASSERT_EQ(candidate.point.size(), 12U);
    for (std::int32_t layer = 0; layer < 6; ++layer) {
      EXPECT_EQ(candidate.mask.runs_attention(layer),
                candidate.point[static_cast<std::size_t>(layer)] <= 0.5);
      EXPECT_EQ(candidate.mask.runs_mlp(layer), candidate.point[static_cast<std::size_t>(layer + 6)] <= 0.5);
    }
    skipped_an_end = skipped_an_end || !candidate.mask.runs_attention(0) || !candidate.mask.runs_mlp(5);
  }
  EXPECT_TRUE(skipped_an_end);
}

TEST(DraftVerifySearch, ProposesProbesFirstAndCountsThemApart) {
  auto options = draft_verify_search(6);
  options.random_points = 100;
  auto search = LayerSetSearch::create(options).value();
  const auto first = speculation::SublayerMask(6).skip_attention(0).skip_mlp(3);
  const auto second = speculation::SublayerMask(6).skip_attention(5);
  ASSERT_TRUE(search.add_probe(first));
  ASSERT_TRUE(search.add_probe(second));
  for (const auto& probe : {first, second}) {
    const auto candidate = search.propose();
    EXPECT_EQ(candidate.mask, probe);
    EXPECT_EQ(candidate.origin, CandidateOrigin::probe);
    ASSERT_TRUE(search.observe(candidate, 1.0));
  }
  EXPECT_EQ(search.iterations(), 0);
  EXPECT_EQ(search.best_set(), first);
  EXPECT_EQ(search.propose().origin, CandidateOrigin::model);
}

TEST(DraftVerifySearch, ProbesFitAnyNumberOfLayersAndHaveThePublishedSharesAtForty) {
  const auto skipped = [](const speculation::SublayerMask& mask) {
    std::pair<int, int> counts;
    for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
      counts.first += mask.runs_attention(layer) ? 0 : 1;
      counts.second += mask.runs_mlp(layer) ? 0 : 1;
    }
    return counts;
  };
  const auto forty = draft_verify_probes(40);
  ASSERT_EQ(forty.size(), 4U);
  EXPECT_EQ(skipped(forty[0]), std::pair(20, 0));
  EXPECT_EQ(skipped(forty[1]), std::pair(24, 10));
  for (std::int32_t n_layers = 1; n_layers <= 100; ++n_layers) {
    auto search = LayerSetSearch::create(draft_verify_search(n_layers)).value();
    const auto probes = draft_verify_probes(n_layers);
    for (const speculation::SublayerMask& probe : probes) EXPECT_TRUE(search.add_probe(probe)) << n_layers;
    EXPECT_EQ(search.propose().mask, probes.front());
  }
}

TEST(LayerSetSearch, RepeatsUnderOneSeedAndDiffersUnderAnother) {
  const auto run = [](std::uint64_t seed) {
    auto options = small_swift();
    options.seed = seed;
    auto search = LayerSetSearch::create(options).value();
    std::vector<std::vector<double>> points;
    for (const Candidate& candidate : scored_candidates(search, 15)) points.push_back(candidate.point);
    return points;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

/// The candidate that is proposed after these scores.
Candidate candidate_after(const SearchOptions& options, const std::vector<double>& scores) {
  auto search = LayerSetSearch::create(options).value();
  for (const double score : scores) EXPECT_TRUE(search.observe(search.propose(), score));
  return search.propose();
}

std::vector<double> irregular_scores(std::size_t count) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < count; ++i) scores.push_back(loss(static_cast<std::int32_t>(i)));
  return scores;
}

TEST(LayerSetSearch, MakesTheModelsCandidateFromAllScoresButThoseOfHalfAnInterval) {
  for (const std::int32_t interval : {1, 3, 4, 7}) {
    SCOPED_TRACE(interval);
    auto options = small_swift();
    options.gp_interval = interval;
    const auto turn = static_cast<std::size_t>(std::max(2 * interval, 5) / interval * interval);
    const auto scores = irregular_scores(turn - 1);
    const Candidate candidate = candidate_after(options, scores);
    ASSERT_EQ(candidate.origin, CandidateOrigin::model);
    const std::size_t known = scores.size() - static_cast<std::size_t>(interval / 2);
    auto later = scores;
    for (std::size_t i = known; i < later.size(); ++i) later[i] = 0.5 - later[i];
    EXPECT_EQ(candidate_after(options, later).point, candidate.point);
    auto last = scores;
    last[known - 1] += 0.5;
    EXPECT_NE(candidate_after(options, last).point, candidate.point);
  }
}

TEST(LayerSetSearch, ProposesTheSameWheneverItIsAsked) {
  auto asked = LayerSetSearch::create(small_swift()).value();
  auto seldom_asked = LayerSetSearch::create(small_swift()).value();
  for (int i = 1; i <= 30; ++i) {
    const auto candidate = asked.propose();
    EXPECT_EQ(asked.propose().point, candidate.point);
    if (i % 10 == 0) {
      const auto found = seldom_asked.propose();
      EXPECT_EQ(found.origin, CandidateOrigin::model);
      EXPECT_EQ(found.point, candidate.point);
      EXPECT_EQ(found.mask, candidate.mask);
    }
    ASSERT_TRUE(asked.observe(candidate, worth(candidate.mask)));
    ASSERT_TRUE(seldom_asked.observe(candidate, worth(candidate.mask)));
  }
}

TEST(LayerSetSearch, ProposesTheSameAfterItHasStopped) {
  auto stops = small_swift();
  stops.max_score = 0.1;
  auto goes_on = small_swift();
  goes_on.max_score.reset();
  const std::vector<double> scores(9, 0.2);
  EXPECT_EQ(candidate_after(stops, scores).point, candidate_after(goes_on, scores).point);
}

TEST(LayerSetSearch, DrawsAtRandomWhereTheModelWouldHaveNoScore) {
  auto options = small_swift();
  options.gp_interval = 2;
  EXPECT_EQ(candidate_after(options, {0.5}).origin, CandidateOrigin::random);
  EXPECT_EQ(candidate_after(options, {0.5, 0.4, 0.3}).origin, CandidateOrigin::model);
  auto probed = LayerSetSearch::create(options).value();
  ASSERT_TRUE(probed.add_probe(best_of_twelve()));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(probed.observe(probed.propose(), 0.5));
  EXPECT_EQ(probed.propose().origin, CandidateOrigin::model);
}

/// A search one score before the model's turn, whose candidate takes long to compute.
LayerSetSearch before_the_models_candidate() {
  auto options = small_swift();
  options.random_points = 100'000;
  auto search = LayerSetSearch::create(options).value();
  scored_candidates(search, 3);
  return search;
}

TEST(LayerSetSearch, MayEndOrMoveWhileACandidateIsUnderWay) {
  const auto next_by_model = [](LayerSetSearch& search) {
    EXPECT_TRUE(search.observe(search.propose(), 0.5));
    return search.propose();
  };
  auto stays = before_the_models_candidate();
  auto replaced = before_the_models_candidate();
  {
    auto ends = before_the_models_candidate();
    replaced = std::move(ends);
  }
  const auto found = next_by_model(replaced);
  EXPECT_EQ(found.origin, CandidateOrigin::model);
  EXPECT_EQ(found.point, next_by_model(stays).point);
  const auto ends_under_way = before_the_models_candidate();
}

/// Observes scores for whatever is proposed, until one stops the search. Returns how many scores that took.
std::size_t scored_until_stopped(LayerSetSearch& search, const std::vector<double>& scores) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_FALSE(search.stopped());
    EXPECT_TRUE(search.observe(search.propose(), scores[i]));
    if (search.stopped()) return i + 1;
  }
  return 0;
}

SearchOptions random_only() {
  auto options = small_swift();
  options.gp_interval = 0;
  return options;
}

TEST(LayerSetSearch, AdoptsOnlyWhatIsBetterThanTheBest) {
  auto search = LayerSetSearch::create(random_only()).value();
  ASSERT_TRUE(search.observe(search.propose(), 0.0));  // no better than the start
  EXPECT_EQ(search.best_set(), swift_initial_set(12));
  EXPECT_EQ(search.tolerance(), 1);
  const auto good = search.propose();
  ASSERT_TRUE(search.observe(good, 0.5));
  EXPECT_EQ(search.best_set(), good.mask);
  EXPECT_EQ(search.tolerance(), 0);
  ASSERT_TRUE(search.observe(search.propose(), 0.5));  // an equal score is not better
  EXPECT_EQ(search.best_set(), good.mask);
  EXPECT_EQ(search.best_score(), 0.5);
  EXPECT_EQ(search.tolerance(), 1);
  EXPECT_EQ(search.iterations(), 3);
}

TEST(LayerSetSearch, StopsAboveTheScoreWantedOrWithoutGainOrAfterMaxIterations) {
  auto options = random_only();
  const auto expect_stop = [&](const std::vector<double>& scores, std::size_t taken, StopReason reason) {
    auto search = LayerSetSearch::create(options).value();
    EXPECT_EQ(scored_until_stopped(search, scores), taken);
    EXPECT_EQ(search.stopped(), reason);
  };
  expect_stop({0.9, 0.95, 0.96, 0.97}, 3, StopReason::score);
  options.max_tolerance = 3;
  expect_stop({0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1}, 7, StopReason::tolerance);
  options.max_iterations = 2;
  expect_stop({0.1, 0.1, 0.1}, 2, StopReason::iterations);
  options.max_iterations = 0;
  EXPECT_EQ(LayerSetSearch::create(options)->stopped(), StopReason::iterations);
}

TEST(LayerSetSearch, RefusesWhatCannotBeAnObservation) {
  auto search = LayerSetSearch::create(small_swift()).value();
  const auto candidate = search.propose();
  EXPECT_THAT(search.observe(candidate, std::nan("")).error().message, HasSubstr("finite"));
  auto other_model = candidate;
  other_model.mask = speculation::SublayerMask(13);
  EXPECT_THAT(search.observe(other_model, 0.5).error().message, HasSubstr("has 13 layers, expected 12"));
  auto end = candidate;
  end.mask.skip_mlp(11);
  EXPECT_THAT(search.observe(end, 0.5).error().message, HasSubstr("first or last layer"));
  auto outside = candidate;
  outside.point[3] = 1.5;
  EXPECT_THAT(search.observe(outside, 0.5).error().message, HasSubstr("holds 1.5, expected"));
  outside.point.pop_back();
  EXPECT_THAT(search.observe(outside, 0.5).error().message, HasSubstr("19 components, expected 20"));
  EXPECT_THAT(search.add_probe(speculation::SublayerMask(12).skip_attention(0)).error().message,
              HasSubstr("first or last"));
  EXPECT_EQ(search.iterations(), 0);
}

TEST(LayerSetSearch, TakesNoMoreScoresThanItsMemoryIsMeantFor) {
  auto search = LayerSetSearch::create(random_only()).value();
  const auto candidate = search.propose();
  for (int i = 0; i < 8192; ++i) ASSERT_TRUE(search.observe(candidate, 0.0));
  EXPECT_THAT(search.observe(candidate, 0.0).error().message, HasSubstr("holds 8192 scores"));
}

TEST(LayerSetSearch, NamesTheOptionThatIsOutOfRange) {
  const auto message = [](auto&& change) {
    auto options = small_swift();
    change(options);
    const auto search = LayerSetSearch::create(options);
    return search ? std::string("accepted") : search.error().message;
  };
  EXPECT_THAT(message([](auto& o) { o.n_layers = 2; }), HasSubstr("n_layers is 2, expected from 3"));
  EXPECT_THAT(message([](auto& o) { o.skipped_sublayers = 21; }), HasSubstr("skipped_sublayers is 21"));
  EXPECT_THAT(message([](auto& o) { o.gp_interval = -1; }), HasSubstr("gp_interval is -1"));
  EXPECT_THAT(message([](auto& o) { o.refit_interval = 0; }), HasSubstr("refit_interval is 0"));
  EXPECT_THAT(message([](auto& o) { o.kappa = std::nan(""); }), HasSubstr("kappa is nan"));
  EXPECT_THAT(message([](auto& o) { o.noise = 0.0; }), HasSubstr("noise is 0"));
  EXPECT_THAT(message([](auto& o) { o.random_points = 0; }), HasSubstr("random_points is 0"));
  EXPECT_THAT(message([](auto& o) { o.random_starts = -1; }), HasSubstr("random_starts is -1"));
  EXPECT_THAT(message([](auto& o) { o.initial_set = speculation::SublayerMask(3); }),
              HasSubstr("initial_set has 3 layers"));
  EXPECT_THAT(message([](auto& o) { o.max_score = std::numeric_limits<double>::infinity(); }),
              HasSubstr("max_score is inf"));
  EXPECT_THAT(message([](auto& o) { o.max_iterations = -1; }), HasSubstr("max_iterations is -1"));
  EXPECT_THAT(message([](auto& o) { o.max_tolerance = 0; }), HasSubstr("max_tolerance is 0"));
  EXPECT_THAT(message([](auto& o) { o = swift_search(12, std::nan("")); }), HasSubstr("skipped_sublayers"));
  EXPECT_THAT(message([](auto& o) { o = swift_search(-5, 0.5); }), HasSubstr("n_layers is -5"));
}

// With the same number of scores the Gaussian process must find a better set than chance alone. Ties count as
// neither; under chance alone 15 of 20 would be a 2 % event.
TEST(LayerSetSearch, BeatsRandomSearchOnMostSeeds) {
  int wins = 0;
  int losses = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto best_after = [&](std::int32_t gp_interval) {
      auto options = small_swift();
      options.seed = seed;
      options.gp_interval = gp_interval;
      auto search = LayerSetSearch::create(options).value();
      scored_candidates(search, 100);
      return search.best_score();
    };
    const double with_model = best_after(5);
    const double by_chance = best_after(0);
    wins += with_model > by_chance ? 1 : 0;
    losses += with_model < by_chance ? 1 : 0;
  }
  EXPECT_GE(wins, 15) << losses << " losses";
}

TEST(LayerSetSearch, FindsTheBestSetWhereEveryCandidateIsTheModels) {
  auto options = small_swift();
  options.gp_interval = 1;
  options.max_score.reset();
  auto search = LayerSetSearch::create(options).value();
  scored_candidates(search, 80);
  EXPECT_GE(search.best_score(), 0.98 * worth(best_of_twelve()));
}

}  // namespace
}  // namespace draftscope::engine
