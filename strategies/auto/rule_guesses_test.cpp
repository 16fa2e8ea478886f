// SPDX-License-Identifier: GPL-3.0-or-later
// Guesses and confidences are compared with independent implementations of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "strategies/auto/rule_confidences.h"
#include "strategies/auto/rule_guesses.h"

namespace draftscope::speculation {
namespace {

using Tokens = std::vector<std::int32_t>;

/// The longest end of the text that occurred before, and the place after its leftmost occurrence.
std::pair<std::int32_t, std::int32_t> longest_by_search(std::span<const std::int32_t> text) {
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t length = size - 1; length > 0; --length)
    for (std::int32_t end = length; end < size; ++end)
      if (std::equal(text.begin() + (end - length), text.begin() + end, text.end() - length))
        return {length, end};
  return {0, 0};
}

Tokens made_text(std::mt19937& random, std::size_t tokens) {
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

TEST(TextGuesses, GuessWhatFollowedTheLongestEnd) {
  std::mt19937 random(1);
  constexpr std::size_t max_length = 6;
  for (int trial = 0; trial < 20; ++trial) {
    const Tokens text = made_text(random, 90);
    const std::size_t prompt = 1 + random() % 40;
    TextGuesses guesses(max_length);
    guesses.begin_request(std::span(text).first(prompt), text.size());
    for (std::size_t size = prompt; size <= text.size(); ++size) {
      const auto known = std::span(text).first(size);
      guesses.extend(known);
      const auto [match, begin] = longest_by_search(known);
      ASSERT_EQ(guesses.match(TextSource::lookup), match);
      const auto guess = guesses.guess(known, TextSource::lookup);
      if (match == 0) {
        EXPECT_TRUE(guess.empty());
        continue;
      }
      ASSERT_EQ(guess.size(), std::min<std::size_t>(max_length, size - static_cast<std::size_t>(begin)));
      EXPECT_TRUE(std::equal(guess.begin(), guess.end(), text.begin() + begin));
    }
  }
}

TEST(TextGuesses, GuessAsSuffixDecodingDoesOverAllRequests) {
  std::mt19937 random(2);
  constexpr std::int32_t max_length = 5;
  TextGuesses guesses(max_length);
  SuffixDecoding suffix({.alpha = max_length, .length = max_length, .min_probability = 0.0});
  for (int request = 0; request < 4; ++request) {
    const Tokens text = made_text(random, 60);
    guesses.begin_request(std::span(text).first(9), text.size());
    suffix.begin_request(std::span(text).first(9), text.size(), {});
    for (std::size_t size = 9; size <= text.size(); ++size) {
      const auto known = std::span(text).first(size);
      guesses.extend(known);
      const auto expected = suffix.guess(known);
      const auto guess = guesses.guess(known, TextSource::suffix);
      ASSERT_EQ(guesses.match(TextSource::suffix), suffix.matched_tokens());
      ASSERT_TRUE(
          std::equal(guess.begin(), guess.end(), expected.begin(), expected.end(),
                     [](std::int32_t token, const TextGuess& other) { return token == other.token; }));
    }
  }
}

/// Counts every guess again, token by token.
TEST(TextGuesses, CountEveryGuessWhetherOrNotItWasTaken) {
  std::mt19937 random(3);
  constexpr std::int32_t max_length = 6;
  for (const TextSource source : TextGuesses::sources) {
    double right = 0.0;
    double all = 0.0;
    double weight = 1.0;
    TextGuesses guesses(max_length);
    for (int request = 0; request < 5; ++request) {
      const Tokens text = made_text(random, 90);
      const std::size_t prompt = 1 + random() % 40;
      guesses.begin_request(std::span(text).first(prompt), text.size());
      struct Guess {
        std::int32_t match;
        Tokens tokens;
        std::size_t place;
      };
      std::vector<Guess> open;
      // The prompt's last token fades the counts, too.
      for (std::size_t size = prompt; size <= text.size(); ++size) {
        const auto known = std::span(text).first(size);
        guesses.extend(known);
        weight *= std::exp2(1.0 / 400.0);
        std::vector<Guess> kept;
        for (Guess& guess : open) {
          const bool is_right = guess.tokens[guess.place] == known.back();
          if (guess.match == 2 && guess.place == 1) {
            all += weight;
            if (is_right) right += weight;
          }
          if (is_right && ++guess.place < guess.tokens.size()) kept.push_back(guess);
        }
        open = kept;
        auto guess = guesses.guess(known, source);
        if (guess.empty()) continue;
        // A lookup continues in the text that is being written while its guess is read.
        if (source == TextSource::lookup) {
          const auto begin = static_cast<std::size_t>(guess.data() - text.data());
          guess = std::span(text).subspan(begin, std::min<std::size_t>(max_length, text.size() - begin));
        }
        open.push_back({guesses.match(source), Tokens(guess.begin(), guess.end()), 0});
      }
    }
    ASSERT_GT(all, 20.0);
    const double prior = 3.3 / 5.0;
    EXPECT_NEAR(guesses.acceptance(source, 2, 1), (right / weight + 3.0 * prior) / (all / weight + 3.0),
                0.02);
  }
}

TEST(TextGuesses, LearnFromRequestToRequest) {
  TextGuesses guesses(4);
  const Tokens text{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const double before = guesses.acceptance(TextSource::lookup, 3, 0);
  for (int i = 0; i < 3; ++i) {
    guesses.begin_request(std::span(text).first(4), text.size());
    guesses.extend(text);
  }
  EXPECT_GT(guesses.acceptance(TextSource::lookup, 3, 0), before);
  guesses.begin_request(std::span(text).first(2), text.size());
  EXPECT_EQ(guesses.match(TextSource::lookup), 0);
  EXPECT_TRUE(guesses.guess(std::span(text).first(2), TextSource::lookup).empty());
  // The earlier outputs are still stored.
  const auto guess = guesses.guess(std::span(text).first(2), TextSource::suffix);
  EXPECT_EQ(Tokens(guess.begin(), guess.end()), (Tokens{3, 1, 2, 3}));
}

/// Tokens whose confidence depends on the one before, and is the square root of their share of correct ones.
class MadeUpDraft {
 public:
  JudgedToken next() {
    const double around = confidence_ < 0.3 ? 0.35 : confidence_ < 0.7 ? 0.6 : 0.8;
    confidence_ = std::clamp(around + 0.5 * (uniform_(random_) - 0.5), 0.01, 0.999);
    return {confidence_, uniform_(random_) < confidence_ * confidence_};
  }
  void begin(double confidence) { confidence_ = confidence; }

 private:
  std::mt19937 random_{3};
  std::uniform_real_distribution<double> uniform_;
  double confidence_ = 0.5;
};

constexpr std::array<ExpectedDrafter, 3> expected_drafters{
    {{.acceptance = 0.7}, {.bits = 4.5}, {.bits = 8.5}}};

TEST(DraftConfidences, ExpectWhatDraftsBringThatAreSureInStretches) {
  for (const ExpectedDrafter& expected : expected_drafters) {
    DraftConfidences counts(expected);
    MadeUpDraft draft;
    for (int round = 0; round < 3000; ++round) {
      draft.begin(0.1);
      std::vector<JudgedToken> tokens;
      while (tokens.size() < 6 && (tokens.empty() || tokens.back().right)) tokens.push_back(draft.next());
      counts.add(Sureness::low, tokens);
    }
    // Only about the latest 300 tokens count.
    const auto check = [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
      if (plan.length != 6) return;
      double tokens = 0.0;
      double steps = 0.0;
      constexpr int rounds = 20000;
      for (int round = 0; round < rounds; ++round) {
        draft.begin(0.1);
        tokens += 1.0;
        bool path = true;
        for (int step = 0; step < plan.length; ++step) {
          const JudgedToken token = draft.next();
          steps += 1.0;
          path = path && token.right;
          if (path) tokens += 1.0;
          if (token.confidence < plan.threshold) break;
        }
      }
      EXPECT_NEAR(outcome.tokens, tokens / rounds, 0.15) << plan.threshold;
      EXPECT_NEAR(outcome.steps, steps / rounds, 0.45) << plan.threshold;
    };
    counts.for_each_plan(Sureness::low, 6, 0.0, check);
  }
}

/// Expected tokens of a draft of six.
double tokens_of(const DraftConfidences& counts, double hope = 0.0) {
  double tokens = 0.0;
  counts.for_each_plan(Sureness::unknown, 6, hope,
                       [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
                         if (plan.length == 6 && plan.threshold < 0.0) tokens = outcome.tokens;
                       });
  return tokens;
}

TEST(DraftConfidences, ExpectMoreOfMoreBitsAndOfHope) {
  double last = 1.0;
  for (const double bits : {3.5, 4.5, 5.5, 8.5}) {
    const DraftConfidences counts({.bits = bits});
    EXPECT_GT(tokens_of(counts), last);
    EXPECT_GT(tokens_of(counts, 1.0), tokens_of(counts));
    last = tokens_of(counts);
  }
}

TEST(DraftConfidences, TakeErrorsOfOneConfidenceForErrorsOfTheOthers) {
  const DraftConfidences fresh({.bits = 8.5});
  DraftConfidences wrong({.bits = 8.5});
  for (int i = 0; i < 10; ++i) wrong.add(Sureness::unknown, std::vector<JudgedToken>{{0.1, false}});
  DraftConfidences sure({.bits = 8.5});
  for (int i = 0; i < 10; ++i) sure.add(Sureness::unknown, std::vector<JudgedToken>{{0.995, i > 0}});
  EXPECT_LT(tokens_of(wrong), 0.8 * tokens_of(fresh));
  EXPECT_LT(tokens_of(sure), tokens_of(fresh));
}

TEST(DraftConfidences, NeverTrustASurerTokenLess) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    DraftConfidences counts(expected_drafters[static_cast<std::size_t>(trial % 3)]);
    for (int i = 0; i < 40; ++i) {
      const JudgedToken token{static_cast<double>(random() % 100) / 100.0, random() % 2 == 0};
      counts.add(static_cast<Sureness>(random() % 4), std::vector<JudgedToken>{token});
    }
    // A higher threshold ends more drafts, after which fewer tokens are correct.
    double steps = 7.0;
    counts.for_each_plan(Sureness::unknown, 6, 0.0,
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
