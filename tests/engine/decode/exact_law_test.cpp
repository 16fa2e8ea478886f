// SPDX-License-Identifier: GPL-3.0-or-later
// With a temperature the law of the output equals the target's: not by sampling, but by walking every chance
// that decode() can meet and adding up the probabilities.

#include <gtest/gtest.h>

#include "exact_law.h"

namespace draftscope::engine {
namespace {

TEST(SampledDecoding, HasExactlyTheTargetsLawOverTheFirstThreeTokens) {
  const SamplingOptions samplings[] = {{.temperature = 1.0},
                                       {.temperature = 0.6, .top_k = 2},
                                       {.temperature = 1.7, .top_p = 0.8},
                                       {.temperature = 0.8, .top_k = 3, .top_p = 0.9}};
  const std::vector<std::int32_t> no_eos;
  const std::vector<std::int32_t> eos{2};
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 3, .seed = seed, .agreement = 0.3};
    for (const SamplingOptions& sampling : samplings) {
      for (const auto& ends : {no_eos, eos}) {
        const Law target = law_of(options, "vanilla", sampling, ends);
        ASSERT_GT(target.size(), 1U);
        for (const char* specification :
             {"layerskip:exit=1,gamma=1", "layerskip:exit=2,gamma=2", "layerskip:exit=1,gamma=3",
              "layerskip:exit=1,gamma=2,verify=above-exit"})
          EXPECT_LT(total_variation(law_of(options, specification, sampling, ends), target), 1e-9)
              << specification;
      }
    }
  }
}

// The measure must be able to fail: a different seed is a different model, and its law is far away.
TEST(SampledDecoding, TheLawTellsModelsApart) {
  const std::vector<std::int32_t> no_eos;
  const Law one = law_of({.vocab = 3, .n_layers = 3, .seed = 1}, "vanilla", {.temperature = 1.0}, no_eos);
  const Law two = law_of({.vocab = 3, .n_layers = 3, .seed = 2}, "vanilla", {.temperature = 1.0}, no_eos);
  EXPECT_GT(total_variation(one, two), 0.05);
}

}  // namespace
}  // namespace draftscope::engine
