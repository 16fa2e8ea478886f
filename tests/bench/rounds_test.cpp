// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds.h"

#include <gtest/gtest.h>

namespace draftscope::bench {
namespace {

TEST(Rounds, AreSplitIntoStepsAndWhatLiesOutside) {
  constexpr std::int32_t gammas[] = {1, 2, 4, 7};
  constexpr double outside = 21e-6;
  constexpr double step = 480e-6;
  std::vector<double> seconds;
  for (const std::int32_t gamma : gammas) seconds.push_back(outside + gamma * step);
  const RoundFit fit = fit_rounds(gammas, seconds);
  EXPECT_NEAR(fit.draft_step_seconds, step, 1e-12);
  EXPECT_NEAR(fit.outside_seconds, outside, 1e-12);
}

}  // namespace
}  // namespace draftscope::bench
