// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of decode passes and of wide passes: its results, and that a row's bits do not depend on other
// rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attention_device.h"
#include "emulated_gpu.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

/// A device that takes blocks and warps in a random order.
std::unique_ptr<cuda::Gpu> emulated(int multiprocessors, std::uint64_t order) {
  return cuda::emulation::make_emulated_gpu(multiprocessors, cuda::emulation::usual_memory_bytes,
                                            static_cast<std::uint32_t>(order % 1000));
}

constexpr std::int32_t every_key = 1 << 30;

/// A random shape; head_dim cycles through all sizes.
AttentionShape random_attention(Random& random, int round, int cache_rows) {
  return {.head_dim = 32 * (round % 4 + 1),
          .n_kv_heads = pick(random, 1, 2),
          .group = pick(random, 1, 6),
          .cache_rows = cache_rows,
          .is_f16 = chance(random, 0.3)};
}

/// Row i comes after `context` keys and i rows. With a window it has the last `window` keys; 0 = no window.
AttentionRows chain_rows(int n, int context, int window = 0) {
  AttentionRows rows;
  for (int i = 0; i < n; ++i) {
    const int end = context + i + 1;
    rows.keys.push_back({window == 0 ? 0 : std::max(0, end - window), end, 0, 0});
    rows.query.push_back((7 * i + context) % n_made_up_queries);
  }
  rows.shared_keys = window == 0 ? every_key : 0;
  return rows;
}

/// Each row has the `context` keys, some of the rows before it, and itself.
AttentionRows tree_rows(Random& random, int n, int context) {
  AttentionRows rows;
  for (int i = 0; i < n; ++i) {
    const auto begin = static_cast<std::int32_t>(rows.extra.size());
    for (int other = 0; other < i; ++other)
      if (chance(random, 0.4)) rows.extra.push_back(context + other);
    rows.extra.push_back(context + i);
    rows.keys.push_back({0, context, begin, static_cast<std::int32_t>(rows.extra.size())});
    rows.query.push_back((5 * i + context) % n_made_up_queries);
  }
  rows.shared_keys = context;
  return rows;
}

AttentionRows random_rows(Random& random, int n, int context) {
  switch (pick(random, 0, 2)) {
    case 0:
      return chain_rows(n, context);
    case 1:
      return chain_rows(n, context, pick(random, 1, context + n));
    default:
      return tree_rows(random, n, context);
  }
}

void expect_close(const AttentionDevice& device, const AttentionRows& rows,
                  const std::vector<std::uint16_t>& found) {
  const std::vector<double> expected = device.expected(rows);
  ASSERT_EQ(found.size(), expected.size());
  // The result is rounded to 16 bits, and so is each weight.
  const double tolerance = 0x1p-8 * device.largest();
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(device.value(found[i]), expected[i], tolerance) << "value " << i;
}

/// Expects that rows computed alone have the same bits as together with their neighbours.
void expect_rows_by_themselves(AttentionDevice& device, const AttentionRows& rows,
                               const std::vector<std::uint16_t>& together, Random& random, int checked) {
  const std::size_t width = together.size() / rows.keys.size();
  for (int i = 0; i < checked; ++i) {
    const int row = pick(random, 0, rows.size() - 1);
    const auto begin = together.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
    ASSERT_EQ(device.decode(rows.only(row)),
              std::vector<std::uint16_t>(begin, begin + static_cast<std::ptrdiff_t>(width)))
        << "row " << row << " of " << rows.size();
  }
}

void expect_attention(const AttentionShape& shape, const AttentionRows& rows, Random& random, int alone) {
  SCOPED_TRACE(testing::Message() << rows.size() << " rows, group " << shape.group << ", head_dim "
                                  << shape.head_dim);
  AttentionDevice device(shape, random(), emulated(pick(random, 1, 4), random()));
  const std::vector<std::uint16_t> together = device.decode(rows);
  expect_close(device, rows, together);
  expect_rows_by_themselves(device, rows, together, random, alone);
}

TEST(DecodeAttention, IsThatOfExactArithmeticForRandomRowsAndEachRowHasTheBitsOfItselfAlone) {
  Random random(3);
  for (int round = 0; round < 24 && !testing::Test::HasFatalFailure(); ++round) {
    const int n = pick(random, 1, 64);
    const int context = pick(random, 0, 700);
    expect_attention(random_attention(random, round, 800), random_rows(random, n, context), random, 3);
  }
}

/// Items take a whole group of splits and two tiles here, which needs at least 20 queries after more than
/// 2,048 keys.
TEST(DecodeAttention, AddsSplitsOfAGroupAsAnItemOfItsOwnWould) {
  Random random(5);
  for (int round = 0; round < 8 && !testing::Test::HasFatalFailure(); ++round) {
    AttentionShape shape = random_attention(random, round, 4200);
    shape.n_kv_heads = 1;
    shape.group = 4 + round % 2;
    const int context =
        round % 3 == 0 ? 1024 * pick(random, 3, 4) - pick(random, 0, 20) : pick(random, 2049, 4100);
    const int n = pick(random, 5, 16);
    const AttentionRows rows = round % 4 == 3 ? tree_rows(random, n, context) : chain_rows(n, context);
    expect_attention(shape, rows, random, 2);
  }
}

/// Rows of wide passes over a cut prompt go through launches of 64.
TEST(DecodeAttention, TakesMoreRowsThanALaunchHas) {
  Random random(9);
  const AttentionShape shape{.head_dim = 32, .n_kv_heads = 1, .group = 2, .cache_rows = 400};
  expect_attention(shape, chain_rows(150, 130), random, 4);
}

TEST(PrefillAttention, IsThatOfExactArithmeticForRandomChainsAndWindows) {
  Random random(21);
  for (int round = 0; round < 12 && !testing::Test::HasFatalFailure(); ++round) {
    const AttentionShape shape = random_attention(random, round, 900);
    const int n = pick(random, 65, 200);
    const int context = pick(random, 0, 900 - n);
    const int window = chance(random, 0.5) ? pick(random, 1, context + n) : 0;
    SCOPED_TRACE(testing::Message() << n << " rows after " << context << ", window " << window << ", group "
                                    << shape.group << ", head_dim " << shape.head_dim);
    AttentionDevice device(shape, random(), emulated(2, random()));
    const AttentionRows rows = chain_rows(n, context, window);
    expect_close(device, rows, device.prefill(rows));
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
