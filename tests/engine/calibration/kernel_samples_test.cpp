// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/kernel_samples.h"

#include <gtest/gtest.h>

namespace draftscope::engine {
namespace {

TEST(KernelSamples, BringTimesOfOneKindTogetherAtTheirMeanContext) {
  KernelSamples samples;
  const auto pass = [](std::int32_t rows, double context) {
    return speculation::KernelForm{
        .kind = speculation::KernelKind::target_pass, .sublayers = {4, 4}, .rows = rows, .context = context};
  };
  for (const double context : {10.0, 20.0, 30.0}) samples.add(pass(1, context), 100.0 * context);
  samples.add(pass(1, 640.0), 7.0);
  samples.add(pass(2, 10.0), 9.0);
  const auto kernels = samples.kernels();
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].form.context, 20.0);
  EXPECT_EQ(kernels[0].ns.median, 2000.0);
  EXPECT_EQ(kernels[0].ns.samples, 3);
  EXPECT_EQ(kernels[1].ns.median, 7.0);
  EXPECT_EQ(kernels[2].form.rows, 2);
}

}  // namespace
}  // namespace draftscope::engine
