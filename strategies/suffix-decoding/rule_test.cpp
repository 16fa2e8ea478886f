// SPDX-License-Identifier: GPL-3.0-or-later
// Suffix decoding's guesses are compared with counts from a search through all texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "random_text.h"
#include "strategies/suffix-decoding/rule.h"

namespace draftscope::speculation {
namespace {

using Text = std::span<const std::int32_t>;
using testing::ElementsAre;
using testing::IsEmpty;

/// How often a string occurs, and for each next token how often it follows and where last.
struct Followers {
  std::int32_t count = 0;
  std::map<std::int32_t, std::pair<std::int32_t, std::size_t>> next;
};

Followers followers(const std::vector<Tokens>& texts, const Tokens& string) {
  Followers found;
  std::size_t place = 0;
  for (const Tokens& text : texts)
    for (std::size_t at = 0; at < text.size(); ++at, ++place) {
      if (at + string.size() > text.size() ||
          !std::equal(string.begin(), string.end(), text.begin() + static_cast<std::ptrdiff_t>(at)))
        continue;
      ++found.count;
      if (at + string.size() == text.size()) continue;
      auto& follower = found.next[text[at + string.size()]];
      ++follower.first;
      follower.second = place;
    }
  return found;
}

Tokens last_of(Tokens string, std::int32_t most) {
  const auto size = static_cast<std::size_t>(most);
  if (string.size() > size) string.erase(string.begin(), string.end() - static_cast<std::ptrdiff_t>(size));
  return string;
}

struct Reference {
  const SuffixOptions& options;
  std::vector<Tokens> texts;  // texts that are searched together
  Tokens end_tokens;

  [[nodiscard]] bool ends(std::int32_t token) const {
    return token < 0 || std::find(end_tokens.begin(), end_tokens.end(), token) != end_tokens.end();
  }

  [[nodiscard]] std::vector<TextGuess> chain(Tokens string, std::int32_t budget) const {
    std::vector<TextGuess> guesses;
    double probability = 1.0;
    while (static_cast<std::int32_t>(guesses.size()) < budget) {
      const Followers behind = followers(texts, string);
      const auto best = std::max_element(behind.next.begin(), behind.next.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (best == behind.next.end() || ends(best->first)) break;
      probability *= static_cast<double>(best->second.first) / static_cast<double>(behind.count);
      if (probability < options.min_probability) break;
      guesses.push_back({best->first, static_cast<std::int32_t>(guesses.size()) - 1, probability});
      string.push_back(best->first);
      string = last_of(string, options.depth);
    }
    return guesses;
  }

  /// The path probabilities of all possible continuations, the best first.
  [[nodiscard]] std::vector<double> tree(const Tokens& pattern, std::int32_t budget) const {
    struct Open {
      double probability;
      Tokens string;
    };
    std::vector<double> probabilities;
    std::vector<Open> open;
    const auto expand = [&](const Tokens& string, double probability) {
      const Followers behind = followers(texts, string);
      for (const auto& [token, follower] : behind.next) {
        const double of_path =
            probability * static_cast<double>(follower.first) / static_cast<double>(behind.count);
        if (ends(token) || of_path < options.min_probability) continue;
        Tokens longer = string;
        longer.push_back(token);
        open.push_back({of_path, last_of(longer, options.depth)});
      }
    };
    if (budget > 0) expand(pattern, 1.0);
    while (static_cast<std::int32_t>(probabilities.size()) < budget && !open.empty()) {
      const auto best = std::max_element(open.begin(), open.end(), [](const Open& a, const Open& b) {
        return a.probability < b.probability;
      });
      const Open taken = *best;
      open.erase(best);
      probabilities.push_back(taken.probability);
      expand(taken.string, taken.probability);
    }
    return probabilities;
  }

  [[nodiscard]] std::int32_t budget(std::int32_t matched) const {
    return std::min(options.length, static_cast<std::int32_t>(options.alpha * matched + 1e-6));
  }
};

struct Best {
  std::vector<TextGuess> guesses;
  double score = 0.0;
};

/// Replaces `best` by the best of the ends of `text` in the reference's texts, if that is better.
void look_through(const Reference& reference, const Tokens& text, Best& best) {
  for (std::int32_t size = std::min(reference.options.depth, static_cast<std::int32_t>(text.size()));
       size > 0; --size) {
    const Tokens end = last_of(text, size);
    double score = 0.0;
    std::vector<TextGuess> guesses;
    if (reference.options.is_tree) {
      for (const double probability : reference.tree(end, reference.budget(size))) score += probability;
    } else {
      guesses = reference.chain(end, reference.budget(size));
      for (const TextGuess& guess : guesses) score += guess.probability;
    }
    if (score > best.score) best = {guesses, score};
  }
}

/// Expects a tree whose nodes are different continuations, each with the probability from its counts.
void expect_tree(std::span<const TextGuess> tree, const Best& best) {
  double score = 0.0;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    EXPECT_GE(tree[i].parent, -1);
    EXPECT_LT(tree[i].parent, static_cast<std::int32_t>(i));
    EXPECT_TRUE(seen.insert({tree[i].parent, tree[i].token}).second);
    const double parent =
        tree[i].parent < 0 ? 1.0 : tree[static_cast<std::size_t>(tree[i].parent)].probability;
    EXPECT_LE(tree[i].probability, parent + 1e-9);
    score += tree[i].probability;
  }
  EXPECT_NEAR(score, best.score, 1e-9);
}

TEST(SuffixDecoding, GuessesWhatCountsThroughAllTextsSay) {
  Random random(51);
  int guessed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const SuffixOptions options{.depth = pick(random, 1, 8),
                                .alpha = static_cast<double>(pick(random, 1, 5)) / 2.0,
                                .length = pick(random, 1, 12),
                                .min_probability = static_cast<double>(pick(random, 0, 5)) / 10.0 + 0.01,
                                .is_tree = pick(random, 0, 1) == 0,
                                .across_requests = pick(random, 0, 2) > 0};
    SuffixDecoding rule(options);
    const Tokens end_tokens{pick(random, 0, 7)};
    Tokens outputs;  // each with a -1 after it, which is never guessed though it may follow most often
    for (int request = 0; request < 3; ++request) {
      const Tokens text = any_text(random);
      const std::size_t prompt = 1 + random() % text.size();
      rule.begin_request(Text(text).first(prompt), static_cast<std::size_t>(pick(random, 0, 150)),
                         end_tokens);
      for (std::size_t length = prompt; length <= text.size();
           length += static_cast<std::size_t>(pick(random, 1, 9))) {
        const Tokens so_far(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
        const auto found = rule.guess(so_far);
        Best best;
        look_through({options, {so_far}, end_tokens}, so_far, best);
        if (options.across_requests) look_through({options, {outputs}, end_tokens}, so_far, best);
        if (options.is_tree)
          expect_tree(found, best);
        else
          ASSERT_EQ(std::vector<TextGuess>(found.begin(), found.end()), best.guesses)
              << "trial " << trial << ", request " << request << ", " << length << " tokens";
        guessed += found.empty() ? 0 : 1;
      }
      rule.extend(text);
      outputs.insert(outputs.end(), text.begin() + static_cast<std::ptrdiff_t>(prompt), text.end());
      if (prompt < text.size()) outputs.push_back(-1);
    }
  }
  EXPECT_GT(guessed, 2500);
}

Tokens tokens_of(std::span<const TextGuess> guesses) {
  Tokens tokens;
  for (const TextGuess& guess : guesses) tokens.push_back(guess.token);
  return tokens;
}

TEST(SuffixDecoding, ForgetsTheOldestOutputs) {
  SuffixDecoding rule({.memory = 40});
  for (std::int32_t request = 0; request < 20; ++request) {
    rule.begin_request(Tokens{1000}, 20, {});
    rule.append(Tokens{100 + request, 200 + request, 300 + request, 1});
  }
  const auto guess_behind = [&](std::int32_t token) {
    const Tokens prompt{1000, token};
    rule.begin_request(prompt, 20, {});
    return tokens_of(rule.guess(prompt));
  };
  EXPECT_THAT(guess_behind(119), ElementsAre(219));
  EXPECT_THAT(guess_behind(100), IsEmpty());
}

}  // namespace
}  // namespace draftscope::speculation
