// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of wide passes: what it computes, and that a row's bits are its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_attention.h"
#include "made_up_rows.h"

namespace draftscope::engine::test {
namespace {

TEST(PrefillAttention, IsThatOfExactArithmeticForRandomChainsAndWindows) {
  Random random(21);
  for (int round = 0; round < 12; ++round) {
    const AttentionShape shape = random_attention(random, round, 900);
    const int n = pick(random, 65, 200);
    const int context = pick(random, 0, 900 - n);
    const int window = chance(random, 0.5) ? pick(random, 1, context + n) : 0;
    SCOPED_TRACE(testing::Message() << n << " rows after " << context << ", window " << window << ", group "
                                    << shape.group << ", head_dim " << shape.head_dim);
    AttentionDevice device(shape, random(), emulated(2, random()));
    const AttentionRows rows = chain_rows(n, context, window);
    const std::vector<std::uint16_t> found = device.prefill(rows);
    const std::vector<double> expected = device.expected(rows);
    ASSERT_EQ(found.size(), expected.size());
    // The result is rounded to 16 bits, and so is each weight.
    const double tolerance = 0x1p-8 * device.largest();
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(device.value(found[i]), expected[i], tolerance) << "value " << i;
  }
}

TEST(PrefillAttention, HasTheSameBitsHoweverAPromptIsCut) {
  Random random(22);
  for (int round = 0; round < 6; ++round) {
    const AttentionShape shape = random_attention(random, round, 900);
    const int context = pick(random, 0, 200);
    const int window = round % 2 == 0 ? 0 : pick(random, 1, 300);
    const AttentionRows all = chain_rows(180, context, window);
    AttentionDevice device(shape, random(), emulated(2, random()));
    const std::vector<std::uint16_t> together = device.prefill(all);
    const std::size_t width = together.size() / 180;
    for (int done = 0; done < 180;) {
      const int n = std::min(180 - done, pick(random, 1, 90));
      AttentionRows part = all;
      part.keys.assign(all.keys.begin() + done, all.keys.begin() + done + n);
      part.query.assign(all.query.begin() + done, all.query.begin() + done + n);
      const auto from =
          together.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(done) * width);
      ASSERT_EQ(device.prefill(part),
                std::vector<std::uint16_t>(
                    from, from + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n) * width)))
          << "rows from " << done << ", " << n;
      done += n;
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
