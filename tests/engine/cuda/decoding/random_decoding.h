// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A random model with a random prompt for the tests of decoding, and the reports of a decoding.

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "decoded_text.h"
#include "tested_backend.h"

namespace draftscope::engine::test {

/// It has no sliding window, so that the device runs rounds by itself. Tested backends take turns.
struct RandomDecoding {
  RandomDecoding(Random& random, int turn, std::int32_t max_vocab, std::int32_t max_prompt,
                 std::int32_t n_layers = 0)
      : tested(tested_backends().at(static_cast<std::size_t>(turn % 2))), shape(tested.shape(random)) {
    shape.sliding_window = 0;
    shape.vocab = pick(random, 3, max_vocab);
    if (n_layers > 0) shape.n_layers = n_layers;
    checkpoint = random_checkpoint(shape, tested.dtype, random());
    prompt = random_prompt(random, shape.vocab, max_prompt);
    end = pick(random, 0, shape.vocab - 1);
  }

  [[nodiscard]] std::unique_ptr<Backend> make(std::int32_t shares, std::int32_t cache_rows) const {
    return tested.make(checkpoint, shares, cache_rows);
  }
  /// One token that may end a text.
  [[nodiscard]] std::span<const std::int32_t> ends() const { return {&end, 1}; }

  TestedBackend tested;
  speculation::ModelShape shape;
  Checkpoint checkpoint;
  std::vector<std::int32_t> prompt;
  std::int32_t end = 0;
};

/// Sampling is coupled or not; it may be cut to top-k or top-p.
inline SamplingOptions random_sampling(Random& random, std::int32_t vocab, bool coupled) {
  SamplingOptions sampling{.temperature = std::uniform_real_distribution<double>(0.3, 1.5)(random),
                           .coupled = coupled};
  if (chance(random, 0.5)) sampling.top_k = pick(random, 1, vocab + 2);
  if (chance(random, 0.5)) sampling.top_p = std::uniform_real_distribution<double>(0.2, 1.0)(random);
  return sampling;
}

struct HeardRounds : DecodeListener {
  std::vector<traces::Round> rounds;
  std::vector<traces::LayerSet> sets;  ///< Sets of rounds that drafted.
  std::vector<traces::DraftToken> draft_tokens;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  void on_round(const RoundReport& report) override {
    rounds.push_back(report.round);
    if (report.round.drafted > 0) sets.push_back(report.layer_set);
    draft_tokens.insert(draft_tokens.end(), report.draft_tokens.begin(), report.draft_tokens.end());
    drafted += report.round.drafted;
    accepted += report.round.accepted;
  }
};

/// Expects the same rounds of two decodings. The host's distributions are in double precision, the device's
/// in single.
inline void expect_same_rounds(const HeardRounds& one, const HeardRounds& other) {
  ASSERT_EQ(one.rounds.size(), other.rounds.size());
  for (std::size_t i = 0; i < one.rounds.size(); ++i) {
    EXPECT_EQ(one.rounds[i].drafted, other.rounds[i].drafted);
    EXPECT_EQ(one.rounds[i].accepted, other.rounds[i].accepted);
    EXPECT_EQ(one.rounds[i].bonus_token, other.rounds[i].bonus_token);
    EXPECT_EQ(one.rounds[i].draft_stop, other.rounds[i].draft_stop);
  }
  ASSERT_EQ(one.draft_tokens.size(), other.draft_tokens.size());
  for (std::size_t i = 0; i < one.draft_tokens.size(); ++i) {
    EXPECT_EQ(one.draft_tokens[i].token, other.draft_tokens[i].token);
    EXPECT_EQ(one.draft_tokens[i].confidence, other.draft_tokens[i].confidence);
    EXPECT_NEAR(one.draft_tokens[i].probability, other.draft_tokens[i].probability, 1e-5);
  }
}

}  // namespace draftscope::engine::test
