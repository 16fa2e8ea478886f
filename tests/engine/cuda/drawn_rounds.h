// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random rounds that a device runs by itself, and the results of two backends for one.

#include <draftscope/engine/backend.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

/// A round and the data that its spans refer to.
struct DrawnRound {
  speculation::SublayerMask mask;
  std::vector<std::int32_t> states;
  std::vector<std::int32_t> stops;
  SamplingOptions sampling;
  bool is_sampled = false;
  ChainRound round;

  [[nodiscard]] ChainRound view() const {
    ChainRound seen = round;
    seen.mask = &mask;
    seen.layers = {0, mask.exit_layer()};
    seen.states = states;
    seen.stops = stops;
    if (is_sampled) seen.sampling = &sampling;
    return seen;
  }
};

inline DrawnRound drawn_round(const speculation::ModelShape& shape, Random& random) {
  DrawnRound drawn;
  const bool is_exit = chance(random, 0.5);
  drawn.mask = is_exit
                   ? speculation::SublayerMask::early_exit(shape.n_layers, pick(random, 1, shape.n_layers))
                   : random_mask(random, shape.n_layers, 0.4);
  drawn.round = {
      .root = pick(random, 0, shape.vocab - 1),
      .root_position = pick(random, 0, 60),
      .draft_length = pick(random, 1, 9),
      .above_exit = is_exit && chance(random, 0.5),
      .threshold = chance(random, 0.5) ? std::uniform_real_distribution<double>(0.0, 0.2)(random) : -1.0,
      .key = {.seed = random(), .stream = 3}};
  if (chance(random, 0.3)) drawn.stops = {pick(random, 0, shape.vocab - 1)};
  if (chance(random, 0.5)) drawn.states = {0, shape.n_layers};
  drawn.is_sampled = chance(random, 0.5);
  drawn.sampling = {.temperature = 0.9, .top_k = pick(random, 0, 9), .coupled = chance(random, 0.5)};
  return drawn;
}

inline std::vector<float> numbers_of_tokens(const std::vector<TopToken>& tokens) {
  std::vector<float> numbers;
  for (const TopToken& token : tokens) {
    numbers.push_back(static_cast<float>(token.token));
    numbers.push_back(token.logit);
    numbers.push_back(token.probability);
  }
  return numbers;
}

inline void expect_same_round(const ChainRoundOutputs& found, const ChainRoundOutputs& expected) {
  EXPECT_EQ(numbers_of_tokens(found.drafted), numbers_of_tokens(expected.drafted));
  EXPECT_EQ(found.drawn_probabilities, expected.drawn_probabilities);
  EXPECT_EQ(numbers_of_tokens(found.verified), numbers_of_tokens(expected.verified));
  EXPECT_EQ(found.hidden, expected.hidden);
  EXPECT_EQ(found.accepted, expected.accepted);
  EXPECT_EQ(found.bonus_token, expected.bonus_token);
}

}  // namespace draftscope::engine::test
