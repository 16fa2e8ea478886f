// SPDX-License-Identifier: GPL-3.0-or-later
// Lookahead's window and pool are compared with a second implementation of the method, without rows, masks or
// trees. Every prediction of the window must be the model's best token after the plain text that leads there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "followed.h"

namespace draftscope::engine {
namespace {

struct Described {
  std::size_t window = 1;
  std::size_t ngram = 3;
  std::size_t guesses = 1;
  bool pool_from_prompt = false;

  std::vector<Tokens> levels;  // level 0 without the current token
  std::map<std::int32_t, std::vector<Tokens>> pool;
  std::size_t pooled = 0;

  bool full() const { return levels.size() == ngram - 1; }

  void add(const Tokens& whole) {
    std::vector<Tokens>& list = pool[whole.front()];
    const Tokens continuation(whole.begin() + 1, whole.end());
    list.erase(std::remove(list.begin(), list.end(), continuation), list.end());
    list.push_back(continuation);
    if (list.size() > guesses) list.erase(list.begin());
  }

  void add_text(const Tokens& text) {
    for (; pool_from_prompt && pooled + ngram <= text.size(); ++pooled)
      add({text.begin() + static_cast<std::ptrdiff_t>(pooled),
           text.begin() + static_cast<std::ptrdiff_t>(pooled + ngram)});
  }

  /// The text that leads to a row: level 0 up to a column, then that column up to a level. Column 0 of level
  /// 0 is the current token, the last of `text`.
  Tokens leading_to(Tokens text, std::size_t level, std::size_t column) const {
    text.insert(text.end(), levels[0].begin(), levels[0].begin() + static_cast<std::ptrdiff_t>(column));
    for (std::size_t l = 1; l <= level; ++l) text.push_back(levels[l][column]);
    return text;
  }

  void step(const ToyBackend::Options& model, const Tokens& text) {
    const std::size_t last = levels.size() - 1;
    Tokens predicted;
    const std::size_t columns = last == 0 ? levels[0].size() + 1 : levels[last].size();
    for (std::size_t column = last == 0 ? 1 : 0; column < columns; ++column)
      predicted.push_back(best_behind(model, leading_to(text, last, column)));
    if (!full()) {
      for (Tokens& level : levels) level.erase(level.begin());
      if (last > 0) predicted.erase(predicted.begin());
      levels.push_back(predicted);
      return;
    }
    for (std::size_t column = 0; column < window; ++column) {
      Tokens whole{column == 0 ? text.back() : levels[0][column - 1]};
      for (std::size_t l = 1; l < levels.size(); ++l) whole.push_back(levels[l][column]);
      whole.push_back(predicted[column]);
      add(whole);
    }
    levels[0].assign(levels[1].begin() + 1, levels[1].end());
    levels.erase(levels.begin() + 1);
    levels.push_back(predicted);
  }
};

/// Every path of a tree of proposals, from its root down.
std::multiset<Tokens> paths(std::span<const Proposal> tree) {
  std::multiset<Tokens> all;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    Tokens path;
    for (auto at = static_cast<std::int32_t>(i); at >= 0; at = tree[static_cast<std::size_t>(at)].parent)
      path.insert(path.begin(), tree[static_cast<std::size_t>(at)].token);
    all.insert(path);
  }
  return all;
}

TEST(Lookahead, DoesWhatItsDescriptionSays) {
  Random random(37);
  std::size_t accepted = 0;
  std::size_t shared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Described described{.window = static_cast<std::size_t>(pick(random, 1, 7)),
                        .ngram = static_cast<std::size_t>(pick(random, 3, 6)),
                        .guesses = static_cast<std::size_t>(pick(random, 1, 7)),
                        .pool_from_prompt = pick(random, 0, 1) == 0};
    const ToyBackend::Options options{.vocab = pick(random, 2, 6),
                                      .n_layers = pick(random, 1, 3),
                                      .cache_rows = 160,
                                      .max_rows = 64,
                                      .seed = static_cast<std::uint32_t>(random())};
    const Tokens prompt = random_text(random, pick(random, 1, 12), options.vocab);
    const std::string specification =
        fmt::format("lookahead:window={},ngram={},guesses={},pool-from-prompt={}", described.window,
                    described.ngram, described.guesses, described.pool_from_prompt ? "yes" : "no");
    follow(options, specification, {.prompt = prompt, .max_new_tokens = 40}, [&](const SeenRound& round) {
      const Tokens text(round.view.text.begin(), round.view.text.end());
      if (round.view.index == 0) {
        Tokens start;
        for (const ExtraRow& extra_row : round.plan.extra_rows) {
          start.push_back(extra_row.token);
          EXPECT_NE(std::find(prompt.begin(), prompt.end(), extra_row.token), prompt.end());
        }
        ASSERT_EQ(start.size(), described.window + described.ngram - 3);
        described.levels = {start};
      }
      described.add_text(text);

      std::vector<std::pair<std::int32_t, std::int32_t>> rows;  // token, offset
      for (std::size_t level = 0; level < described.levels.size(); ++level)
        for (std::size_t i = 0; i < described.levels[level].size(); ++i)
          rows.emplace_back(described.levels[level][i],
                            static_cast<std::int32_t>(level + i + (level == 0 ? 1 : 0)));
      ASSERT_EQ(round.plan.extra_rows.size(), rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(round.plan.extra_rows[i].token, rows[i].first);
        ASSERT_EQ(round.plan.extra_rows[i].offset, rows[i].second);
      }
      std::set<Tokens> guessed;
      if (described.full())
        for (const Tokens& continuation : described.pool[text.back()])
          for (std::size_t depth = 1; depth <= continuation.size(); ++depth)
            guessed.insert({continuation.begin(), continuation.begin() + static_cast<std::ptrdiff_t>(depth)});
      ASSERT_EQ(paths(round.plan.proposals), std::multiset<Tokens>(guessed.begin(), guessed.end()));
      if (described.full())
        shared += described.pool[text.back()].size() * (described.ngram - 1) - guessed.size();

      accepted += round.outcome.accepted_nodes.size();
      ASSERT_EQ(round.outcome.extra_rows.size(), rows.size());
      described.step(options, text);
    });
    if (HasFatalFailure()) FAIL() << specification;
  }
  EXPECT_GT(accepted, 200U);
  EXPECT_GT(shared, 500U);
}

TEST(Lookahead, TheWindowHoldsNoEndOfTheText) {
  Random random(38);
  int guessed_ends = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ToyBackend::Options options{.vocab = 4,
                                      .n_layers = 2,
                                      .cache_rows = 160,
                                      .max_rows = 64,
                                      .seed = static_cast<std::uint32_t>(random())};
    const Tokens prompt = random_text(random, 5, 3);
    const Tokens eos{3};
    follow(options, "lookahead:window=5,ngram=4", {.prompt = prompt, .max_new_tokens = 60, .eos_tokens = eos},
           [&](const SeenRound& round) {
             for (const ExtraRow& extra_row : round.plan.extra_rows) ASSERT_NE(extra_row.token, 3);
             // The pool may contain it, because a text does end.
             for (const Proposal& guess : round.plan.proposals) guessed_ends += guess.token == 3 ? 1 : 0;
           });
  }
  EXPECT_GT(guessed_ends, 0);
}

TEST(Lookahead, WaitsWhereTheWindowHasNoRoom) {
  // The window takes 4 + 2 · 4 rows and the root; the last rows of the context are too few for it.
  const ToyBackend::Options options{.vocab = 3, .n_layers = 2, .cache_rows = 40, .max_rows = 64, .seed = 5};
  const Tokens prompt{0, 1, 2, 1};
  Tokens waiting;
  int waits = 0;
  follow(options, "lookahead:window=4,ngram=4", {.prompt = prompt, .max_new_tokens = 100},
         [&](const SeenRound& round) {
           Tokens window;
           for (const ExtraRow& extra_row : round.plan.extra_rows) window.push_back(extra_row.token);
           if (!waiting.empty()) {
             EXPECT_EQ(window, waiting);
             ++waits;
           }
           if (round.outcome.extra_rows.empty()) waiting = window;
         });
  EXPECT_GT(waits, 2);
}

}  // namespace
}  // namespace draftscope::engine
