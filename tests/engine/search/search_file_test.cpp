// SPDX-License-Identifier: GPL-3.0-or-later
// A search that was saved and loaded continues as if nothing had happened, and damaged files are refused.

#include <draftscope/base/counter_random.h>
#include <draftscope/engine/search.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "scored_sets.h"
#include "scratch_file.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

void expect_same(LayerSetSearch& a, LayerSetSearch& b) {
  EXPECT_EQ(a.best_set(), b.best_set());
  EXPECT_EQ(a.best_score(), b.best_score());
  EXPECT_EQ(a.iterations(), b.iterations());
  EXPECT_EQ(a.tolerance(), b.tolerance());
  EXPECT_EQ(a.stopped(), b.stopped());
  const auto from_a = a.propose();
  const auto from_b = b.propose();
  EXPECT_EQ(from_a.mask, from_b.mask);
  EXPECT_EQ(from_a.point, from_b.point);
  EXPECT_EQ(from_a.origin, from_b.origin);
}

SearchOptions quick(SearchOptions options) {
  options.random_points = 300;
  options.random_starts = 3;
  return options;
}

SearchOptions quick_swift() {
  auto options = quick(swift_search(12, 0.45));
  options.gp_interval = 3;
  options.refit_interval = 2;  // makes proposals between fits grow the factor row by row
  options.max_score = 0.99;
  options.max_tolerance = 6;
  options.seed = 0xFFFFFFFFFFFFFFF1;
  return options;
}

SearchOptions quick_draft_verify() {
  auto options = quick(draft_verify_search(8));
  options.refit_interval = 5;
  return options;
}

/// Saves and loads before every score, and in each round once more between the proposal and its score.
void expect_the_same_after_loading(const SearchOptions& options,
                                   const std::vector<speculation::SublayerMask>& probes) {
  const ScratchFile file;
  auto uninterrupted = LayerSetSearch::create(options).value();
  for (const auto& probe : probes) ASSERT_TRUE(uninterrupted.add_probe(probe));
  for (int i = 0; i < 24; ++i) {
    ASSERT_TRUE(uninterrupted.save(file.path()));
    auto before_proposal = LayerSetSearch::load(file.path());
    ASSERT_TRUE(before_proposal) << before_proposal.error().message;
    expect_same(uninterrupted, *before_proposal);
    const auto candidate = uninterrupted.propose();
    ASSERT_TRUE(uninterrupted.save(file.path()));
    auto after_proposal = LayerSetSearch::load(file.path()).value();
    ASSERT_TRUE(after_proposal.observe(candidate, worth(candidate.mask)));
    ASSERT_TRUE(before_proposal->observe(candidate, worth(candidate.mask)));
    ASSERT_TRUE(uninterrupted.observe(candidate, worth(candidate.mask)));
    expect_same(uninterrupted, after_proposal);
    expect_same(uninterrupted, *before_proposal);
  }
}

TEST(SearchFile, OfASwiftSearchGoesOnToTheBit) {
  expect_the_same_after_loading(quick_swift(), {});
}

TEST(SearchFile, OfADraftAndVerifySearchGoesOnToTheBit) {
  expect_the_same_after_loading(quick_draft_verify(),
                                {speculation::SublayerMask(8).skip_attention(2).skip_mlp(3),
                                 speculation::SublayerMask(8).skip_attention(0).skip_attention(7)});
}

// A loaded search has no candidate under way, so its proposals depend on the scores alone. Probes and scores
// of other candidates come at any time, also while the saved search has a candidate under way.
TEST(SearchFile, ProposesWhatTheSavedOneDoesWhateverIsScored) {
  auto options = quick_swift();
  options.max_score.reset();
  options.max_tolerance.reset();
  for (const std::int32_t interval : {1, 2, 3, 6})
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(fmt::format("interval {}, seed {}", interval, seed));
      options.gp_interval = interval;
      options.refit_interval = static_cast<std::int32_t>(seed);
      CounterRandom random(seed, 0);
      const ScratchFile file;
      auto search = LayerSetSearch::create(options).value();
      Candidate candidate = search.propose();
      for (int i = 0; i < 24; ++i) {
        const std::size_t event = random.index(8);
        if (event == 0) {
          ASSERT_TRUE(search.add_probe(best_of_twelve()));
        }
        if (event != 1) {  // otherwise the same candidate is scored again
          ASSERT_TRUE(search.save(file.path()));
          auto loaded = LayerSetSearch::load(file.path()).value();
          expect_same(search, loaded);
          candidate = search.propose();
        }
        if (event == 2) candidate.origin = CandidateOrigin::single;
        ASSERT_TRUE(search.observe(candidate, random.uniform()));
      }
    }
}

TEST(SearchFile, SavedWhileACandidateIsUnderWayProposesIt) {
  auto options = quick_swift();
  options.gp_interval = 9;
  options.random_points = 20'000;
  const ScratchFile file;
  auto search = LayerSetSearch::create(options).value();
  std::vector<LayerSetSearch> loaded;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(search.save(file.path()));
    loaded.push_back(LayerSetSearch::load(file.path()).value());
    const auto candidate = search.propose();
    ASSERT_TRUE(search.observe(candidate, worth(candidate.mask)));
    for (LayerSetSearch& one : loaded) ASSERT_TRUE(one.observe(candidate, worth(candidate.mask)));
  }
  EXPECT_EQ(search.propose().origin, CandidateOrigin::model);
  for (LayerSetSearch& one : loaded) expect_same(search, one);
}

TEST(SearchFile, KeepsEveryOption) {
  auto options = quick_swift();
  options.kappa = 1.0 / 3.0;
  options.noise = 0.02;
  options.initial_score = -0.125;
  options.max_iterations = 77;
  const ScratchFile file;
  ASSERT_TRUE(LayerSetSearch::create(options)->save(file.path()));
  const auto loaded = LayerSetSearch::load(file.path()).value();
  const auto& found = loaded.options();
  EXPECT_EQ(found.n_layers, options.n_layers);
  EXPECT_EQ(found.protect_ends, options.protect_ends);
  EXPECT_EQ(found.skipped_sublayers, options.skipped_sublayers);
  EXPECT_EQ(found.gp_interval, options.gp_interval);
  EXPECT_EQ(found.refit_interval, options.refit_interval);
  EXPECT_EQ(found.kappa, options.kappa);
  EXPECT_EQ(found.noise, options.noise);
  EXPECT_EQ(found.random_points, options.random_points);
  EXPECT_EQ(found.random_starts, options.random_starts);
  EXPECT_EQ(found.initial_set, options.initial_set);
  EXPECT_EQ(found.initial_score, options.initial_score);
  EXPECT_EQ(found.max_score, options.max_score);
  EXPECT_EQ(found.max_iterations, options.max_iterations);
  EXPECT_EQ(found.max_tolerance, options.max_tolerance);
  EXPECT_EQ(found.seed, options.seed);
}

/// A file with a probe, random candidates and one candidate of the model.
nlohmann::json good_file() {
  const ScratchFile file;
  auto search = LayerSetSearch::create(quick_swift()).value();
  EXPECT_TRUE(search.add_probe(best_of_twelve()));
  for (int i = 0; i < 6; ++i) {
    const auto candidate = search.propose();
    EXPECT_TRUE(search.observe(candidate, worth(candidate.mask)));
  }
  EXPECT_TRUE(search.save(file.path()));
  auto json = nlohmann::json::parse(file.read());
  // Write this observation's point in full, whichever corner the model's maximum lies in.
  json["observations"][3]["point"] = std::vector<double>(20, 0.5);
  return json;
}

struct Damage {
  const char* place;  ///< JSON pointer
  const char* value;  ///< JSON; "" removes the place
  const char* complaint;
};

TEST(SearchFile, IsRefusedInOneLineWhereItIsDamaged) {
  const auto good = good_file();
  const std::vector<Damage> damages{
      {"/draftscope_search", "2", "draftscope_search is 2, expected an integer from 1 to 1"},
      {"/draftscope_search", "", "draftscope_search is missing"},
      {"/options", "", "options is missing, expected an object"},
      {"/options", "[]", "options is an array"},
      {"/options/n_layers", "\"12\"", "options.n_layers is '12'"},
      {"/options/n_layers", "13", "observations[3]: the candidate's point has 20 components, expected 22"},
      {"/options/kappa", "null", "options.kappa is null"},
      {"/options/kappa", "-1", "search option kappa is -1, expected from 0"},
      {"/options/seed", "-1", "options.seed is -1, expected an integer from 0"},
      {"/options/seed", "1.5", "options.seed is 1.5"},
      {"/options/initial_set", "", "options.initial_set is missing"},
      {"/options/initial_set/mlp", "7", "options.initial_set.mlp is 7, expected a list"},
      {"/options/skipped_sublayers", "99", "skipped_sublayers is 99, expected from 0 to 20"},
      {"/probes", "{}", "probes is an object, expected a list"},
      {"/probes/0/attention", "[0]", "probes[0]: the candidate skips a sublayer of the first or last layer"},
      {"/observations", "7", "observations is 7, expected a list"},
      {"/observations/1", "null", "observations[1] is null, expected an object"},
      {"/observations/1/score", "\"high\"", "observations[1].score is 'high'"},
      {"/observations/1/score", "", "observations[1].score is missing"},
      {"/observations/1/origin", "\"chance\"", "observations[1].origin is 'chance', expected"},
      {"/observations/1/skipped", "", "observations[1].skipped is missing"},
      {"/observations/1/skipped/mlp", "[3, 3]", "observations[1].skipped.mlp[1] is 3 again"},
      {"/observations/3/point", "7", "observations[3].point is 7, expected a list"},
      {"/observations/3/point/0", "\"x\"", "observations[3].point holds 'x', expected numbers"},
      {"/observations/3/point/0", "2", "observations[3]: the candidate's point holds 2, expected"},
      {"/observations/3/point/0", "", "observations[3]: the candidate's point has 19 components"},
      {"/length_scale", "0", "length_scale is 0, expected a number"},
      {"/fitted_observations", "7", "fitted_observations is 7, expected an integer from 0 to 6"}};
  for (const auto& damage : damages) {
    SCOPED_TRACE(fmt::format("{} {}", damage.place, damage.value));
    auto damaged = good;
    const nlohmann::json::json_pointer place(damage.place);
    ASSERT_TRUE(damaged.contains(place));
    if (*damage.value != '\0')
      damaged[place] = nlohmann::json::parse(damage.value);
    else if (auto& parent = damaged[place.parent_pointer()]; parent.is_array())
      parent.erase(std::stoul(place.back()));
    else
      parent.erase(place.back());
    const ScratchFile file;
    file.write(damaged.dump());
    const auto loaded = LayerSetSearch::load(file.path());
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr(damage.complaint));
    EXPECT_THAT(loaded.error().message, ::testing::StartsWith(file.path().string()));
    EXPECT_THAT(loaded.error().message, ::testing::Not(HasSubstr("\n")));
  }
}

TEST(SearchFile, WithAFitToMoreScoresThanTheModelHasIsFittedAnew) {
  auto json = good_file();
  json["fitted_observations"] = 6;
  const ScratchFile file;
  file.write(json.dump());
  auto loaded = LayerSetSearch::load(file.path()).value();
  EXPECT_EQ(loaded.propose().origin, CandidateOrigin::model);
}

TEST(SearchFile, LoadsWithoutProbesAndObservations) {
  auto json = good_file();
  json.erase("probes");
  json.erase("observations");
  json["fitted_observations"] = 0;
  const ScratchFile file;
  file.write(json.dump());
  const auto loaded = LayerSetSearch::load(file.path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->iterations(), 0);
}

TEST(SearchFile, IsNotWrittenWhereNoFolderIs) {
  const auto search = LayerSetSearch::create(quick_swift()).value();
  EXPECT_THAT(search.save("/nowhere/search.json").error().message, HasSubstr("/nowhere"));
  EXPECT_THAT(LayerSetSearch::load("/nowhere/search.json").error().message, HasSubstr("no such file"));
}

}  // namespace
}  // namespace draftscope::engine
