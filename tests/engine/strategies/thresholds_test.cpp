// SPDX-License-Identifier: GPL-3.0-or-later
// Compares Draft & Verify's threshold, round by round, with its equations written out for each of the three
// rules.

#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <random>

#include "kept_decode.h"
#include "toy_backend.h"

namespace draftscope::engine {
namespace {

/// One evaluation of the equations over a series of rounds.
class Written {
 public:
  Written(std::string rule, double start, double target)
      : rule_(std::move(rule)), th(start), target_(target) {}

  void begin_request() {
    all_accepted_ = all_drafted_ = 0.0;
    if (rule_ != "del") ar_ = 0.0;
    first_ = true;
  }

  /// Adds a round with `gamma` of `K` tokens drafted and `a` of them accepted.
  void round(double a, double gamma, double K) {
    if (gamma == 0.0) return;
    constexpr double beta1 = 0.5;
    constexpr double beta2 = 0.9;
    constexpr double epsilon = 0.01;
    double moved = 0.0;
    if (rule_ == "paper") {
      ar_ = first_ ? a / gamma : beta1 * ar_ + (1.0 - beta1) * (a / gamma);
      moved = ar_ <= target_ ? th + epsilon : th - epsilon;
      ++(ar_ <= target_ ? raised : lowered);
    } else if (rule_ == "code") {
      ar_ = beta1 * ar_ + (1.0 - beta1) * (a / gamma);
      moved = ar_ < target_ ? th + epsilon : gamma == K ? th : th - epsilon;
      ++(ar_ < target_ ? raised : gamma == K ? rested : lowered);
    } else {
      all_accepted_ += a;
      all_drafted_ += gamma;
      const double so_far = all_accepted_ / all_drafted_;
      ar_ = ar_ == 0.0 ? so_far : beta1 * ar_ + (1.0 - beta1) * so_far;
      moved = ar_ < target_ ? th + epsilon : th - epsilon;
      ++(ar_ < target_ ? raised : lowered);
    }
    th = beta2 * th + (1.0 - beta2) * moved;
    first_ = false;
  }

 private:
  std::string rule_;

 public:
  double th;
  int raised = 0, lowered = 0, rested = 0;

 private:
  double target_;
  double ar_ = 0.0;
  bool first_ = true;
  double all_accepted_ = 0.0, all_drafted_ = 0.0;
};

class AdaptiveThresholdTrace : public testing::TestWithParam<const char*> {};

TEST_P(AdaptiveThresholdTrace, FollowsTheEquationsOverRequests) {
  const std::string rule = GetParam();
  int raised = 0;
  int lowered = 0;
  int rested = 0;
  for (const double agreement : {0.3, 0.9, 1.0}) {
    ToyBackend backend({.vocab = 6, .n_layers = 4, .cache_rows = 300, .seed = 3, .agreement = agreement});
    const auto strategy =
        expect_strategy("dv:exit=2,gamma=4,threshold=0.35,target=0.8,rule=" + rule, backend.shape());
    Written written(rule, 0.35, 0.8);
    for (std::int32_t request = 0; request < 3; ++request) {
      const std::vector<std::int32_t> prompt{request, 1, 4};
      KeptDecode kept(prompt);
      expect_decoded(backend, *strategy, {.prompt = prompt, .max_new_tokens = 120}, kept);
      written.begin_request();
      for (const KeptRound& one : kept.rounds) {
        // The threshold carries over from request to request under each of the rules.
        ASSERT_NEAR(one.round.threshold, written.th, 1e-12) << request << ' ' << one.round.index;
        written.round(one.round.accepted, one.round.drafted, 4.0);
      }
      EXPECT_GT(kept.rounds.size(), 20U);
    }
    raised += written.raised;
    lowered += written.lowered;
    rested += written.rested;
  }
  EXPECT_GT(raised, 30);
  EXPECT_GT(lowered, 30);
  EXPECT_EQ(rested > 10, rule == "code");
}

INSTANTIATE_TEST_SUITE_P(Rules, AdaptiveThresholdTrace, testing::Values("paper", "code", "del"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace draftscope::engine
