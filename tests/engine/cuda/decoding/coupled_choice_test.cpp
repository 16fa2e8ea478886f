// SPDX-License-Identifier: GPL-3.0-or-later
// The device draws the host's numbers. chain_round_test.cpp compares the choices that follow from them, ties
// and the edges of top-k and top-p included.

#include <draftscope/engine/random.h>
#include <gtest/gtest.h>

#include "cuda/kernels/philox.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

TEST(CoupledChoice, DrawsTheHostsNumbers) {
  Random random(19);
  for (int i = 0; i < 500; ++i) {
    const CounterKey key{random(), random()};
    const std::int32_t position = pick(random, 0, 1 << 30);
    const std::int32_t token = pick(random, 0, (1 << 24) - 1);
    EXPECT_EQ(cuda::uniform_draw(key.seed, key.stream, position, cuda::DrawFor::noise, token),
              uniform(key, {DrawPurpose::noise, position, token}));
  }
}

}  // namespace
}  // namespace draftscope::engine::test
