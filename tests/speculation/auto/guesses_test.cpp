// SPDX-License-Identifier: GPL-3.0-or-later
// What follows from the text and from confidences, against second statements of both.
#include <draftscope/speculation/auto/draft_confidences.h>
#include <draftscope/speculation/auto/text_guesses.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace draftscope::speculation {
namespace {

using Tokens = std::vector<std::int32_t>;

/// The longest end of the text that occurred before, and the place behind its leftmost occurrence.
std::pair<std::int32_t, std::int32_t> longest_by_search(std::span<const std::int32_t> text) {
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t length = size - 1; length > 0; --length)
    for (std::int32_t end = length; end < size; ++end)
      if (std::equal(text.begin() + (end - length), text.begin() + end, text.end() - length))
        return {length, end};
  return {0, 0};
}

Tokens random_text(std::mt19937& random, std::size_t tokens) {
  Tokens text;
  while (text.size() < tokens) {
    const std::size_t copied = random() % 8;
    if (text.size() > 12 && random() % 3 == 0) {
      const std::size_t from = random() % (text.size() - copied);
      for (std::size_t i = 0; i < copied; ++i) text.push_back(text[from + i]);
    } else {
      text.push_back(static_cast<std::int32_t>(random() % 5));
    }
  }
  text.resize(tokens);
  return text;
}

TEST(TextGuesses, GuessWhatFollowedTheLongestEndAndCountEveryGuess) {
  std::mt19937 random(1);
  constexpr std::int32_t max_length = 6;
  for (int trial = 0; trial < 20; ++trial) {
    const Tokens text = random_text(random, 90);
    const std::size_t prompt = 1 + random() % 40;
    TextGuesses guesses(max_length);
    guesses.begin_request(std::span(text).first(prompt), text.size());
    // Right and all guesses by match and place, tokens of each long end and late place apart.
    struct Guess {
      std::int32_t match, begin, place;
    };
    std::vector<Guess> open;
    double right_first = 0.0;
    double all_first = 0.0;
    double weight = 1.0;
    for (std::size_t size = prompt; size <= text.size(); ++size) {
      const auto known = std::span(text).first(size);
      guesses.extend(known);
      weight *= std::exp2(1.0 / 400.0);
      std::vector<Guess> kept;
      for (Guess guess : open) {
        const bool right = text[static_cast<std::size_t>(guess.begin + guess.place)] == known.back();
        if (guess.match == 2 && guess.place == 0) {
          all_first += weight;
          if (right) right_first += weight;
        }
        ++guess.place;
        if (right && guess.place < max_length) kept.push_back(guess);
      }
      open = kept;
      const auto [match, begin] = longest_by_search(known);
      ASSERT_EQ(guesses.match(), match);
      if (match == 0) continue;
      open.push_back({match, begin, 0});
      const auto guess = guesses.guess(known);
      ASSERT_EQ(guess.size(), std::min<std::size_t>(max_length, size - static_cast<std::size_t>(begin)));
      EXPECT_TRUE(std::equal(guess.begin(), guess.end(), text.begin() + begin));
    }
    const double prior = 2.3 / 4.0;
    EXPECT_NEAR(guesses.acceptance(2, 0), (right_first / weight + 2.0 * prior) / (all_first / weight + 2.0),
                1e-9);
  }
}

TEST(TextGuesses, LearnFromRequestToRequest) {
  TextGuesses guesses(4);
  const Tokens text{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const double before = guesses.acceptance(3, 0);
  for (int i = 0; i < 3; ++i) {
    guesses.begin_request(std::span(text).first(4), text.size());
    guesses.extend(text);
  }
  EXPECT_GT(guesses.acceptance(3, 0), before);
  guesses.begin_request(std::span(text).first(2), text.size());
  EXPECT_EQ(guesses.match(), 0);
  EXPECT_TRUE(guesses.guess(std::span(text).first(2)).empty());
}

TEST(DraftConfidences, ExpectWhatIndependentTokensBring) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform;
  DraftConfidences counts(0.7);
  const auto draw = [&] {
    const double confidence = std::sqrt(uniform(random));
    return std::pair(confidence, uniform(random) < confidence * confidence);
  };
  for (int i = 0; i < 5000; ++i) {
    const auto [confidence, right] = draw();
    counts.add(confidence, right);
  }
  counts.for_each_plan(6, [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
    if (plan.length != 6) return;
    double tokens = 0.0;
    double steps = 0.0;
    constexpr int rounds = 20000;
    for (int round = 0; round < rounds; ++round) {
      tokens += 1.0;
      bool path = true;
      for (int step = 0; step < plan.length; ++step) {
        const auto [confidence, right] = draw();
        steps += 1.0;
        path = path && right;
        if (path) tokens += 1.0;
        if (confidence < plan.threshold) break;
      }
    }
    EXPECT_NEAR(outcome.tokens, tokens / rounds, 0.15) << plan.threshold;
    EXPECT_NEAR(outcome.steps, steps / rounds, 0.25) << plan.threshold;
  });
}

TEST(DraftConfidences, NeverTrustASurerTokenLess) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    DraftConfidences counts(0.5);
    for (int i = 0; i < 40; ++i) counts.add(static_cast<double>(random() % 100) / 100.0, random() % 2 == 0);
    // A higher threshold ends more drafts, behind which fewer are right.
    double steps = 7.0;
    counts.for_each_plan(6,
                         [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
                           if (plan.length != 6) return;
                           EXPECT_LE(outcome.steps, steps + 1e-12);
                           EXPECT_LE(outcome.tokens, 1.0 + outcome.steps);
                           steps = outcome.steps;
                         });
  }
}

}  // namespace
}  // namespace draftscope::speculation
