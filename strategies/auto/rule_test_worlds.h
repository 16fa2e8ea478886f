// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Made-up worlds with known costs and acceptance, and decoding by auto's rule in them.

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "strategies/auto/rule.h"

namespace draftscope::speculation {

struct World {
  std::vector<double> step_costs;  ///< Step costs of the drafters, in vanilla rounds.
  double row_cost = 0.02;
  /// Whether a drafter's token after the n-th of the text is correct, and with which confidence.
  std::function<JudgedToken(std::int32_t drafter, std::size_t n)> drafts;
  /// The text's next token.
  std::function<std::int32_t(std::span<const std::int32_t> text)> next;
  std::function<double(std::int64_t round)> pace = [](std::int64_t /*round*/) { return 1e6; };
};

struct Sums {
  double time = 0.0;  ///< Vanilla rounds, each by its own pace.
  double tokens = 0.0;
  std::vector<AutoChoice> choices;
  [[nodiscard]] double rate() const { return tokens / time; }
};

/// `bits`: bits of the drafters' weights; 0 = other parts of the model.
inline AutoOptions options_for(const World& world, double bits = 0.0) {
  AutoOptions options;
  for (std::size_t i = 0; i < world.step_costs.size(); ++i)
    options.drafters.push_back({.step_cost = 0.5, .acceptance = 0.8, .bits = bits});
  return options;
}

inline Sums decode(AutoRule& rule, const World& world, std::size_t tokens) {
  std::vector<std::int32_t> text{0};
  Sums sums;
  rule.begin_request(text, tokens);
  for (std::int64_t round = 0; text.size() < tokens; ++round) {
    const AutoChoice choice = rule.choose(text, static_cast<std::int32_t>(tokens - text.size()) - 1);
    std::int32_t steps = 0;
    std::int32_t rows = 1;
    std::int32_t accepted = 0;
    const std::size_t before = text.size();
    if (choice.kind == AutoChoice::Kind::text) {
      const auto guess = rule.guess(text, choice);
      const std::vector<std::int32_t> kept(guess.begin(), guess.end());
      rows += static_cast<std::int32_t>(kept.size());
      for (const std::int32_t token : kept) {
        if (token != world.next(text)) break;
        text.push_back(token);
      }
    } else if (choice.kind == AutoChoice::Kind::model) {
      std::vector<JudgedToken> judged;
      bool path = true;
      while (steps < choice.length) {
        const JudgedToken token = world.drafts(choice.drafter, before + static_cast<std::size_t>(steps));
        ++steps;
        if (path) judged.push_back(token);
        path = path && token.right;
        if (path) ++accepted;
        if (token.confidence < choice.threshold) break;
      }
      rows += steps;
      for (std::int32_t i = 0; i < accepted; ++i) text.push_back(world.next(text));
      rule.judge(choice, judged);
    }
    text.push_back(world.next(text));
    const double draft =
        choice.drafter < 0 ? 0.0 : steps * world.step_costs[static_cast<std::size_t>(choice.drafter)];
    const double time = draft + 1.0 + world.row_cost * (rows - 1);
    const double pace = world.pace(round);
    rule.end_round(choice,
                   {.rows = rows,
                    .steps = steps,
                    .drafter = choice.drafter,
                    .round_ns = static_cast<std::int64_t>(time * pace),
                    .draft_ns = static_cast<std::int64_t>(draft * pace)},
                   static_cast<std::int32_t>(text.size() - before));
    sums.time += time;
    sums.tokens += static_cast<double>(text.size() - before);
    sums.choices.push_back(choice);
  }
  return sums;
}

/// A text of independent tokens: no end of it predicts the next one.
inline std::function<std::int32_t(std::span<const std::int32_t>)> random_text(std::uint32_t seed) {
  return [seed](std::span<const std::int32_t> text) {
    std::mt19937 random(seed + static_cast<std::uint32_t>(text.size()));
    return static_cast<std::int32_t>(random() % 20000);
  };
}

inline std::function<JudgedToken(std::int32_t, std::size_t)> right_with(std::vector<double> shares) {
  return [shares = std::move(shares)](std::int32_t drafter, std::size_t n) {
    std::mt19937 random(static_cast<std::uint32_t>(n * 7 + static_cast<std::size_t>(drafter)));
    const bool right =
        static_cast<double>(random() % 10000) < 1e4 * shares[static_cast<std::size_t>(drafter)];
    return JudgedToken{right ? 0.9 : 0.8, right};
  };
}

/// Tokens per vanilla round of the best fixed length of a drafter.
inline double best_rate(double step_cost, double row_cost, double share) {
  double best = 1.0;
  double tokens = 1.0;
  double path = 1.0;
  for (int length = 1; length <= 12; ++length) {
    path *= share;
    tokens += path;
    best = std::max(best, tokens / (1.0 + length * (step_cost + row_cost)));
  }
  return best;
}

}  // namespace draftscope::speculation
