// SPDX-License-Identifier: GPL-3.0-or-later
// After any speculative decoding the K/V of committed tokens is what the target alone would have written. The
// hidden states and logits of the next step equal, bit for bit, those of a backend that only ever saw the
// final text.

#include <gtest/gtest.h>
#include "decoded.h"

namespace draftscope::engine {
namespace {

/// Runs `tokens` row by row at positions from `first`; returns the last row's logits and all its hidden
/// states.
Outputs last_row(Backend& backend, std::span<const std::int32_t> tokens, std::int32_t first) {
  std::vector<std::int32_t> boundaries;
  for (std::int32_t b = 0; b <= backend.shape().n_layers; ++b) boundaries.push_back(b);
  Outputs outputs;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t position = first + static_cast<std::int32_t>(i);
    const Row row{.token = tokens[i], .hidden = -1, .position = position};
    const Batch batch{
        .rows = std::span(&row, 1),
        .committed = position,
        .first_row = position,
        .layers = {0, backend.shape().n_layers},
        .wanted = {.hidden_after = boundaries, .head_from = 0, .head = true, .logits = true, .top_k = 1}};
    const auto done = backend.forward(batch, outputs);
    EXPECT_TRUE(done) << done.error().message;
  }
  return outputs;
}

TEST(CacheAfterSpeculation, EqualsThatOfAFreshBackend) {
  std::mt19937 random(21);
  for (int trial = 0; trial < 20; ++trial) {
    const Checkpoint checkpoint = random_checkpoint(random);
    const auto used = cpu_backend(checkpoint, 2, 160);
    const auto fresh = cpu_backend(checkpoint, 1, 160);
    const auto prompt = random_tokens(random, 1 + random() % 40, checkpoint.shape.vocab);
    const DecodeRequest request{.prompt = prompt, .max_new_tokens = 50};
    const char* specifications[] = {"layerskip:exit=1,gamma=5",
                                    "layerskip:exit=1,gamma=5,verify=above-exit",
                                    "prompt-lookup",
                                    "lookahead:window=4,pool-from-prompt=yes",
                                    "suffix-decoding:alpha=3,shape=tree",
                                    "token-recycling:nodes=30"};
    const Decoded decoded = decode_with(*used, specifications[trial % 6], request);

    std::vector<std::int32_t> text(prompt.begin(), prompt.end());
    text.insert(text.end(), decoded.tokens.begin(), decoded.tokens.end());
    const auto last = static_cast<std::int32_t>(text.size()) - 1;
    const Outputs expected = last_row(*fresh, text, 0);
    const Outputs found = last_row(*used, std::span(text).subspan(static_cast<std::size_t>(last)), last);
    ASSERT_EQ(found.hidden, expected.hidden) << trial;
    ASSERT_EQ(found.logits, expected.logits) << trial;
  }
}

}  // namespace
}  // namespace draftscope::engine
