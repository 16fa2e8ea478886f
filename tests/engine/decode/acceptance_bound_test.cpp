// SPDX-License-Identifier: GPL-3.0-or-later
// Tests AdaEDL's bound on distributions of known entropy, and drafts that end where the bound is low.

#include "decode/acceptance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "expect_decoded.h"
#include "toy_backend.h"

namespace draftscope::engine {
namespace {

TEST(AcceptanceBound, IsThatOfTheEntropy) {
  const std::vector<float> uniform(16, 3.0F);
  EXPECT_NEAR(acceptance_bound(uniform, 0.2), 1.0 - std::sqrt(0.2 * std::log(16.0)), 1e-12);
  constexpr float never = -std::numeric_limits<float>::infinity();
  EXPECT_DOUBLE_EQ(acceptance_bound(std::vector<float>{never, 2.0F, never}, 0.2), 1.0);
  // p = ¾, ¼, whatever constant is added to the logits.
  const double entropy = -0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  for (const float shift : {0.0F, 80.0F})
    EXPECT_NEAR(acceptance_bound(std::vector<float>{shift + std::log(3.0F), shift}, 0.5),
                1.0 - std::sqrt(0.5 * entropy), 1e-5);
}

struct Drafted : DecodeListener {
  std::int64_t drafted = 0;
  std::int64_t stopped = 0;
  void on_round(const RoundReport& report) override {
    drafted += report.round.drafted;
    stopped += report.round.draft_stop == traces::DraftStop::threshold ? 1 : 0;
  }
};

// A draft ends sooner with a larger λ. With λ = 0 the bound would be 1, and nothing would end the draft.
TEST(AcceptanceBound, EndsDraftsTheSoonerTheLargerItsFactor) {
  std::vector<std::int64_t> drafted;
  for (const char* weight : {"0.01", "0.2", "0.9"}) {
    ToyBackend backend({.vocab = 8, .n_layers = 3, .cache_rows = 200, .seed = 3, .agreement = 0.9});
    const std::vector<std::int32_t> prompt{1, 2, 3};
    Drafted heard;
    expect_decoded(
        backend,
        fmt::format("mix:mask=exit,exit=2,gamma=6,stop=entropy,epsilon=0,threshold=0.5,entropy-weight={}",
                    weight),
        {.prompt = prompt, .max_new_tokens = 120}, heard);
    drafted.push_back(heard.drafted);
    EXPECT_EQ(heard.stopped > 0, std::string_view(weight) != "0.01") << weight;
  }
  EXPECT_GE(drafted[0], drafted[1]);
  EXPECT_GT(drafted[0], drafted[2]);
}

}  // namespace
}  // namespace draftscope::engine
