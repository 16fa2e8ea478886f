// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "random_text.h"
#include "strategies/token-recycling/rule.h"

namespace draftscope::speculation {
namespace {

using testing::ElementsAre;

/// Probabilities of all paths of a full tree, the best first.
std::vector<double> all_paths(const RecyclingOptions& options) {
  std::vector<double> paths;
  const std::function<void(double, std::int32_t)> add = [&](double probability, std::int32_t depth) {
    for (std::int32_t rank = 1; rank <= options.successors; ++rank) {
      const double of_path = probability * 0.5 * std::pow(static_cast<double>(rank), -1.75);
      paths.push_back(of_path);
      if (depth < options.depth) add(of_path, depth + 1);
    }
  };
  add(1.0, 1);
  std::sort(paths.begin(), paths.end(), std::greater<>());
  return paths;
}

TEST(RecyclingTree, HasTheLikeliestPaths) {
  Random random(52);
  for (int trial = 0; trial < 40; ++trial) {
    const RecyclingOptions options{
        .successors = pick(random, 1, 6), .nodes = pick(random, 1, 100), .depth = pick(random, 1, 5)};
    const auto tree = recycling_tree(options);
    std::vector<double> expected = all_paths(options);
    expected.resize(std::min(expected.size(), static_cast<std::size_t>(options.nodes)));
    ASSERT_EQ(tree.size(), expected.size());
    std::vector<double> found;
    std::set<std::pair<std::int32_t, std::int32_t>> seen;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      ASSERT_LT(tree[i].parent, static_cast<std::int32_t>(i));
      EXPECT_TRUE(seen.insert({tree[i].parent, tree[i].rank}).second);
      EXPECT_EQ(tree[i].depth,
                tree[i].parent < 0 ? 1 : tree[static_cast<std::size_t>(tree[i].parent)].depth + 1);
      found.push_back(tree[i].probability);
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    // Costs are rounded to thousandths.
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i] / expected[i], 1.0, 0.005);
  }
}

TEST(RecyclingTree, IsAsWideAsDocumented) {
  std::map<std::int32_t, int> widths;
  for (const RankedNode& node : recycling_tree({})) ++widths[node.depth];
  EXPECT_THAT(widths, ElementsAre(std::pair(1, 8), std::pair(2, 21), std::pair(3, 25), std::pair(4, 19),
                                  std::pair(5, 6), std::pair(6, 1)));
}

TEST(TokenRecycling, GuessesWhatWasLikelyLastTime) {
  Random random(53);
  for (int trial = 0; trial < 100; ++trial) {
    const RecyclingOptions options{.successors = pick(random, 1, 4),
                                   .nodes = pick(random, 1, 40),
                                   .depth = pick(random, 1, 4),
                                   .across_requests = pick(random, 0, 1) == 0};
    constexpr std::int32_t vocab = 12;
    const auto tree = recycling_tree(options);
    TokenRecycling rule(options, vocab);
    std::map<std::int32_t, Tokens> kept;
    for (int request = 0; request < 3; ++request) {
      const Tokens end_tokens{pick(random, 0, vocab - 1)};
      rule.begin_request(end_tokens);
      if (!options.across_requests) kept.clear();
      for (int round = 0; round < 10; ++round) {
        const Tokens text{3, pick(random, 0, vocab - 1)};
        // The expected guesses follow node by node from the tokens on the way.
        std::map<std::int32_t, std::int32_t> token_of{{-1, text.back()}};
        std::vector<std::int32_t> expected;
        for (std::size_t i = 0; i < tree.size(); ++i) {
          if (!token_of.contains(tree[i].parent)) continue;
          const Tokens& likely = kept[token_of[tree[i].parent]];
          const auto rank = static_cast<std::size_t>(tree[i].rank);
          if (rank >= likely.size() || likely[rank] == end_tokens.front()) continue;
          token_of[static_cast<std::int32_t>(i)] = likely[rank];
          expected.push_back(likely[rank]);
        }
        std::vector<std::int32_t> found;
        for (const TextGuess& guess : rule.guess(text)) found.push_back(guess.token);
        ASSERT_EQ(found, expected);
        const std::int32_t token = pick(random, 0, vocab - 1);
        Tokens likeliest(static_cast<std::size_t>(pick(random, 1, 6)));
        for (std::int32_t& likely : likeliest) likely = pick(random, 0, vocab - 1);
        rule.keep(token, likeliest);
        likeliest.resize(std::min(likeliest.size(), static_cast<std::size_t>(options.successors)));
        kept[token] = likeliest;
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::speculation
