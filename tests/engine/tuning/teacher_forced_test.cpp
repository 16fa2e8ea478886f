// SPDX-License-Identifier: GPL-3.0-or-later
// Compares scores over known texts with decoding under the same setting, and with passes that the test makes
// itself.

#include <draftscope/engine/skip_set.h>
#include <draftscope/engine/tuning/skip_set_source.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "decoded.h"
#include "small_model.h"

namespace draftscope::engine {
namespace {

using speculation::SublayerMask;
using ::testing::HasSubstr;

/// A small model with prompts of different lengths.
struct Example {
  Checkpoint checkpoint;
  std::unique_ptr<Backend> backend;
  ScoringSetup setup;

  explicit Example(const SmallModel& model, std::vector<std::int32_t> eos_tokens = {},
                   std::int32_t threads = 1)
      : checkpoint(with_eos(small_model(model), std::move(eos_tokens))),
        backend(cpu_backend(checkpoint, threads, 512)),
        setup{.backend = *backend,
              .checkpoint = checkpoint,
              .prompts = {},
              .max_tokens = 24,
              .objective = Objective::acceptance_model} {
    std::mt19937 random(static_cast<std::uint32_t>(model.seed));
    for (const std::size_t size : {3U, 17U, 9U, 70U, 1U})
      setup.prompts.push_back(random_tokens(random, size, model.vocab));
  }
  [[nodiscard]] TeacherForced teacher_forced() const {
    auto made = TeacherForced::create(setup, byte_costs(checkpoint, *backend));
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(*made);
  }
  [[nodiscard]] static Checkpoint with_eos(Checkpoint checkpoint, std::vector<std::int32_t> eos_tokens) {
    checkpoint.shape.eos_tokens = std::move(eos_tokens);
    return checkpoint;
  }
};

SublayerMask random_mask(std::int32_t n_layers, std::mt19937& random, std::uint32_t one_in) {
  SublayerMask mask(n_layers);
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    if (random() % one_in == 0) mask.skip_attention(layer);
    if (random() % one_in == 0) mask.skip_mlp(layer);
  }
  return mask;
}

TeacherForcedScore score_of(TeacherForced& scorer, const std::string& setting) {
  const auto scored = scorer.score(setting);
  EXPECT_TRUE(scored) << scored.error().message;
  return scored && *scored ? **scored : TeacherForcedScore{};
}

TEST(TeacherForced, CountsDraftsOfOneStepAsDecodingDoes) {
  std::mt19937 random(5);
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    // Include tokens that end texts early; some of them are drafted.
    for (const bool ends : {false, true}) {
      const SmallModel model{.n_layers = 5, .vocab = 24, .redundancy = 0.6, .seed = seed};
      Example example(model,
                      ends ? std::vector<std::int32_t>{1, 2, 3, 5, 8, 13} : std::vector<std::int32_t>{});
      std::vector<std::string> settings;
      for (const std::uint32_t one_in : {1U, 2U, 2U, 3U, 5U, 8U, 100U})
        settings.push_back(with_skip_set("draft-verify:gamma=1", random_mask(5, random, one_in)));
      std::vector<Measurement> forced;
      std::int32_t all = 0;
      {
        TeacherForced scorer = example.teacher_forced();
        for (const std::string& setting : settings) {
          const TeacherForcedScore scored = score_of(scorer, setting);
          forced.push_back(scored.measured);
          all = std::max(all, scored.prompts);
        }
      }
      EXPECT_EQ(all, 5);
      for (std::size_t i = 0; i < settings.size(); ++i) {
        const auto decoded = score_setting(example.setup, settings[i], 5);
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_DOUBLE_EQ(forced[i].score, (*decoded)->score) << settings[i];
        EXPECT_DOUBLE_EQ(forced[i].acceptance_rate, (*decoded)->acceptance_rate) << settings[i];
        EXPECT_DOUBLE_EQ(forced[i].tokens_per_round, (*decoded)->tokens_per_round) << settings[i];
      }
    }
}

TEST(TeacherForced, AgreesAtThePositionsWhereTheDraftsFirstStepDoes) {
  std::mt19937 random(11);
  const Example example({.n_layers = 4, .vocab = 16, .redundancy = 0.5, .seed = 3});
  for (const std::uint32_t one_in : {1U, 2U, 3U, 6U}) {
    const SublayerMask mask = random_mask(4, random, one_in);
    TeacherForced scorer = example.teacher_forced();
    const double agreement = score_of(scorer, with_skip_set("draft-verify:gamma=1", mask)).agreement;
    std::int32_t agreed = 0;
    std::int32_t positions = 0;
    for (const auto& prompt : example.setup.prompts) {
      const Decoded vanilla =
          decode_with(*example.backend, "vanilla", {.prompt = prompt, .max_new_tokens = 24});
      std::vector<std::int32_t> text = prompt;
      text.push_back(vanilla.tokens.front());
      for (std::size_t i = 1; i < vanilla.tokens.size(); ++i) {
        // K/V below this row is vanilla's. The draft writes its own K/V into this row, and the next pass
        // overwrites it.
        const auto position = static_cast<std::int32_t>(text.size()) - 1;
        const Row row{.token = text.back(), .hidden = -1, .position = position};
        Outputs outputs;
        for (const SublayerMask& pass : {mask, SublayerMask(4)}) {
          const auto done = example.backend->forward({.rows = std::span(&row, 1),
                                                      .committed = position,
                                                      .first_row = position,
                                                      .mask = &pass,
                                                      .layers = {0, pass.exit_layer()},
                                                      .wanted = {.head = true, .top_k = 1}},
                                                     outputs);
          ASSERT_TRUE(done) << done.error().message;
          if (pass == mask && outputs.top.front().token == vanilla.tokens[i]) ++agreed;
        }
        ++positions;
        text.push_back(vanilla.tokens[i]);
      }
    }
    EXPECT_DOUBLE_EQ(agreement, static_cast<double>(agreed) / positions);
  }
}

TEST(TeacherForced, EmptySetAgreesEverywhere) {
  const Example example({.n_layers = 4, .vocab = 16, .seed = 2});
  TeacherForced scorer = example.teacher_forced();
  const TeacherForcedScore scored =
      score_of(scorer, with_skip_set("draft-verify:gamma=4,threshold=0", SublayerMask(4)));
  EXPECT_EQ(scored.agreement, 1.0);
  EXPECT_EQ(scored.measured.acceptance_rate, 1.0);
  EXPECT_EQ(scored.prompts, 5);
  // Counted by bytes, each token costs one step, either of the draft or of the verification.
  EXPECT_DOUBLE_EQ(scored.measured.score, 1.0);
  const auto first = scorer.score_in_one_pass(with_skip_set("draft-verify", SublayerMask(4)));
  ASSERT_TRUE(first) << first.error().message;
  // Two texts of 23 tokens each, after which others follow, fill 46 of 64 rows.
  EXPECT_EQ((*first)->prompts, 2);
}

TEST(TeacherForced, ScoresAlikeInAnyOrderAndOnAnyThreads) {
  std::mt19937 random(7);
  std::vector<std::string> settings;
  for (std::int32_t i = 0; i < 8; ++i)
    settings.push_back(with_skip_set("draft-verify:gamma=5,threshold=0.5", random_mask(6, random, 4)));
  std::vector<TeacherForcedScore> first;
  for (const std::int32_t threads : {1, 2}) {
    const Example example({.n_layers = 6, .seed = 9}, {}, threads);
    TeacherForced scorer = example.teacher_forced();
    std::vector<TeacherForcedScore> found(settings.size());
    std::vector<std::size_t> order(settings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (threads == 2) std::reverse(order.begin(), order.end());
    for (const std::size_t i : order) found[i] = score_of(scorer, settings[i]);
    if (threads == 1) first = found;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      EXPECT_EQ(found[i].measured, first[i].measured);
      EXPECT_EQ(found[i].agreement, first[i].agreement);
    }
  }
}

TEST(TeacherForced, EarlyStopNeverDropsTheSetThatWins) {
  constexpr std::int32_t layers = 3;
  std::int32_t stopped = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Example example({.n_layers = layers, .vocab = 24, .redundancy = 0.7, .seed = seed});
    TeacherForced scorer = example.teacher_forced();
    std::vector<std::string> settings;
    for (std::uint32_t bits = 0; bits < 1U << (2 * layers); ++bits) {
      SublayerMask mask(layers);
      for (std::int32_t layer = 0; layer < layers; ++layer) {
        if ((bits >> (2 * layer) & 1U) != 0U) mask.skip_attention(layer);
        if ((bits >> (2 * layer + 1) & 1U) != 0U) mask.skip_mlp(layer);
      }
      settings.push_back(with_skip_set("draft-verify:gamma=4,threshold=0.3", mask));
    }
    std::vector<double> whole;
    for (const std::string& setting : settings) whole.push_back(score_of(scorer, setting).measured.score);
    const double highest = *std::max_element(whole.begin(), whole.end());
    double best = -1.0;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const auto scored = scorer.score(settings[i], best);
      ASSERT_TRUE(scored) << scored.error().message;
      const bool on_all = (*scored)->prompts == 5;
      // A setting that reaches the floor is scored on all prompts, with the same score as without a floor.
      if (whole[i] >= best) {
        EXPECT_TRUE(on_all) << settings[i];
      }
      if (on_all) {
        EXPECT_EQ((*scored)->measured.score, whole[i]);
        best = std::max(best, whole[i]);
      }
      stopped += on_all ? 0 : 1;
    }
    EXPECT_EQ(best, highest);
  }
  EXPECT_GT(stopped, 0);
}

TEST(TeacherForced, RefusesInOneLine) {
  Example example({.n_layers = 6, .seed = 4});
  TeacherForced scorer = example.teacher_forced();
  const auto refusal = [&](const std::string& setting) {
    const auto scored = scorer.score(setting);
    return scored ? std::string("none") : scored.error().message;
  };
  EXPECT_THAT(refusal("vanilla"), HasSubstr("expected that to score it teacher-forced"));
  EXPECT_THAT(refusal("layerskip:exit=3"), HasSubstr("'layerskip:exit=3'"));
  EXPECT_THAT(refusal("turbo"), HasSubstr("turbo"));
  example.setup.prompts.assign(1000, {1, 2, 3});
  const auto too_many =
      TeacherForced::create(example.setup, byte_costs(example.checkpoint, *example.backend));
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message, HasSubstr("expected at most 512"));
}

TEST(TeacherForced, EndsWhereItIsCancelled) {
  Example example({.n_layers = 4, .seed = 4});
  std::atomic<bool> cancelled{false};
  example.setup.cancelled = &cancelled;
  TeacherForced scorer = example.teacher_forced();
  cancelled = true;
  const auto scored = scorer.score(with_skip_set("draft-verify", SublayerMask(4)));
  ASSERT_TRUE(scored) << scored.error().message;
  EXPECT_FALSE(*scored);
  const auto made = TeacherForced::create(example.setup, byte_costs(example.checkpoint, *example.backend));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(*made);
}

TEST(AcceptanceModel, CountsTheStepsOfATreeNotItsTokens) {
  const Example example({.n_layers = 6});
  const double step =
      byte_costs(example.checkpoint, *example.backend).draft_step(SublayerMask::early_exit(6, 2));
  const auto scored = score_setting(example.setup, "mix:mask=exit,exit=2,gamma=4,shape=tree", 5);
  ASSERT_TRUE(scored && *scored);
  const Measurement& measured = **scored;
  EXPECT_GE(measured.score, measured.tokens_per_round / (1.0 + 4.0 * step) - 1e-9);
  EXPECT_LT(measured.score, measured.tokens_per_round);
}

TEST(AcceptanceModel, IsRefusedForDraftsThatItCannotCount) {
  const Example example({.n_layers = 6});
  for (const char* const strategy : {"auto:exits=2", "cascade"}) {
    const auto scored = score_setting(example.setup, strategy, 5);
    ASSERT_FALSE(scored) << strategy;
    EXPECT_THAT(scored.error().message, HasSubstr("found acceptance-model"));
  }
}

}  // namespace
}  // namespace draftscope::engine
