// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "followed.h"

namespace draftscope::engine {
namespace {

ToyBackend::Options any_model(Random& random) {
  return {.vocab = pick(random, 2, 6),
          .n_layers = pick(random, 1, 3),
          .cache_rows = 100,
          .max_rows = 16,
          .seed = static_cast<std::uint32_t>(random())};
}

TEST(Jacobi, GuessesWhatTheLastRoundPredicted) {
  Random random(35);
  std::size_t accepted = 0;
  int rounds = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const ToyBackend::Options options = any_model(random);
    const auto block = static_cast<std::size_t>(pick(random, 1, 8));
    const Tokens prompt = random_text(random, pick(random, 1, 6), options.vocab);
    const Tokens eos = random_text(random, pick(random, 0, 3) / 3, options.vocab);
    const std::int32_t padding = eos.empty() ? 0 : eos.front();
    Tokens guesses(block, padding);
    bool cut = false;
    follow(options, fmt::format("jacobi:block={}", block),
           {.prompt = prompt, .max_new_tokens = 30, .eos_tokens = eos}, [&](const SeenRound& round) {
             // The last rounds are cut at the token budget.
             cut = cut || round.outcome.nodes.size() < block;
             if (cut) return;
             ++rounds;
             ASSERT_EQ(round.plan.proposals.size(), block);
             for (std::size_t i = 0; i < block; ++i) ASSERT_EQ(round.plan.proposals[i].token, guesses[i]);
             Tokens text(round.view.text.begin(), round.view.text.end());
             Tokens predicted{best_behind(options, text)};
             for (const std::int32_t guess : guesses) {
               text.push_back(guess);
               predicted.push_back(best_behind(options, text));
             }
             std::size_t right = 0;
             while (right < block && guesses[right] == predicted[right]) ++right;
             EXPECT_EQ(round.outcome.accepted_nodes.size(), right);
             accepted += right;
             for (std::size_t i = 0; i < block; ++i)
               guesses[i] = right + 1 + i <= block ? predicted[right + 1 + i] : padding;
           });
  }
  EXPECT_GT(accepted, 300U);
  EXPECT_GT(rounds, 1000);
}

TEST(Jacobi, AsPublishedKeepsATokenARoundUntilTheBlockHasSettled) {
  Random random(36);
  int settled_blocks = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const ToyBackend::Options options = any_model(random);
    const auto block = static_cast<std::size_t>(pick(random, 1, 8));
    const Tokens prompt = random_text(random, pick(random, 1, 6), options.vocab);
    Tokens guesses(block, 0);
    bool settled = false;
    follow(options, fmt::format("jacobi:block={},rule=published", block),
           {.prompt = prompt, .max_new_tokens = 40}, [&](const SeenRound& round) {
             if (settled) {
               ASSERT_EQ(round.plan.proposals.size(), guesses.size());
               EXPECT_TRUE(round.plan.extra_rows.empty());
               EXPECT_EQ(round.outcome.accepted_nodes.size(), round.outcome.nodes.size()) << "all are right";
               ++settled_blocks;
               guesses.assign(block, 0);
               settled = false;
               return;
             }
             EXPECT_TRUE(round.plan.proposals.empty());
             ASSERT_EQ(round.plan.extra_rows.size(), guesses.size() - 1);
             Tokens text(round.view.text.begin(), round.view.text.end());
             Tokens predicted{best_behind(options, text)};
             for (std::size_t i = 0; i + 1 < guesses.size(); ++i) {
               EXPECT_EQ(round.plan.extra_rows[i].token, guesses[i]);
               text.push_back(guesses[i]);
               predicted.push_back(best_behind(options, text));
             }
             settled = predicted == guesses && block > 1;
             predicted.erase(predicted.begin());
             guesses = predicted;
             if (guesses.empty()) {
               guesses.assign(block, 0);
               settled = false;
             }
           });
  }
  EXPECT_GT(settled_blocks, 30);
}

}  // namespace
}  // namespace draftscope::engine
