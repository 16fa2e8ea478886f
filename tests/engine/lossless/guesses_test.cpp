// SPDX-License-Identifier: GPL-3.0-or-later
// Greedy text under guesses that no model drafted equals vanilla text on the real backend, bit for bit. The
// guesses include token trees, extra rows and moved cache rows.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "decoded.h"

namespace draftscope::engine {
namespace {

TEST(LosslessGuesses, GreedyTextEqualsVanillaOnRandomModels) {
  std::mt19937 random(41);
  const auto up_to = [&random](std::uint32_t n) { return 1 + random() % n; };
  constexpr std::size_t strategies = 6;
  std::int64_t accepted[strategies] = {};
  std::int64_t drafted[strategies] = {};
  for (int trial = 0; trial < 20; ++trial) {
    const Checkpoint checkpoint = random_checkpoint(random);
    const auto backend = cpu_backend(checkpoint, static_cast<std::int32_t>(up_to(3)), 240);
    const auto prompt = random_tokens(random, up_to(100), checkpoint.shape.vocab);
    const auto eos = random_tokens(random, random() % 2, checkpoint.shape.vocab);
    // Long texts of small models repeat themselves, so guesses are often right.
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = static_cast<std::int32_t>(up_to(160)), .eos_tokens = eos};
    const Decoded vanilla = decode_with(*backend, "vanilla", request);
    const char* matches[] = {"leftmost", "latest", "longest"};
    const char* levels[] = {"q8_0", "0.5", "exit-1+0.3", "q8_0+0.5/q4_1", "exit-1/q3_0"};
    const std::uint32_t level_lists = checkpoint.shape.n_layers > 2 ? 5 : 1;
    const std::string specifications[] = {
        fmt::format("prompt-lookup:ngram={},length={},match={},reading={}", up_to(4), up_to(15),
                    matches[random() % 3], random() % 2 == 0 ? "published" : "transformers"),
        fmt::format("jacobi:block={},rule={}", up_to(12), random() % 2 == 0 ? "prefix" : "published"),
        fmt::format("lookahead:window={},ngram={},guesses={},pool-from-prompt={}", up_to(8), 2 + up_to(4),
                    up_to(9), random() % 2 == 0 ? "yes" : "no"),
        fmt::format("suffix-decoding:alpha={},shape={}", up_to(4), random() % 2 == 0 ? "chain" : "tree"),
        fmt::format("token-recycling:successors={},nodes={}", up_to(8), up_to(60)),
        fmt::format("cascade:levels={},gamma={},siblings={},mass=0.{},match={},costs={}",
                    levels[random() % level_lists], up_to(20), up_to(4) - 1, up_to(9), up_to(5) - 1,
                    random() % 2 == 0 ? "measured" : "by-weights")};
    for (std::size_t i = 0; i < strategies; ++i) {
      const Decoded guessed = decode_with(*backend, specifications[i], request);
      ASSERT_EQ(guessed.tokens, vanilla.tokens) << "trial " << trial << ' ' << specifications[i];
      accepted[i] += guessed.accepted;
      drafted[i] += guessed.drafted;
    }
  }
  for (std::size_t i = 0; i < strategies; ++i) {
    EXPECT_GT(accepted[i], 5) << i;  // Jacobi is seldom right
    EXPECT_GT(drafted[i], accepted[i] + 100) << i;
  }
}

}  // namespace
}  // namespace draftscope::engine
