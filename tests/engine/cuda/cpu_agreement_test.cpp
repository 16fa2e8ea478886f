// SPDX-License-Identifier: GPL-3.0-or-later
// The device against the processor's backend on random shapes, masks, layer ranges, chains and trees. Hidden
// states and logits must agree within the error of 16-bit activations. Neither is the other's reference
// (oracle_test.cpp has one in fp64); this test keeps the two backends comparable for users.

#include <draftscope/engine/cpu_backend.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cuda_shapes.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t cache_rows = 200;

/// Largest difference of two rows, relative to the largest magnitude.
double difference(std::span<const float> a, std::span<const float> b) {
  double worst = 0.0;
  double largest = 1e-3;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return worst / largest;
}

/// Compares row by row; a NaN fails, since it is not less than anything.
void expect_close(const std::vector<float>& device, const std::vector<float>& host, std::int32_t width) {
  constexpr double tolerance = 3e-2;  // Equals the tolerance against the oracle.
  ASSERT_EQ(device.size(), host.size());
  const auto columns = static_cast<std::size_t>(width);
  for (std::size_t at = 0; at < host.size(); at += columns)
    ASSERT_LT(difference({device.data() + at, columns}, {host.data() + at, columns}), tolerance)
        << "row " << at / columns;
}

TEST(DeviceAndProcessor, AgreeWithin16BitRoundingOnRandomShapes) {
  Random random(2027);
  std::size_t rows_compared = 0;
  for (int round = 0; round < 16; ++round) {
    SCOPED_TRACE(round);
    const TestedBackend tested = tested_backends().at(static_cast<std::size_t>(round % 2));
    const speculation::ModelShape shape = tested.shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, tested.dtype, random());
    const auto device = tested.make(checkpoint, pick(random, 1, 3), cache_rows);
    auto made = make_cpu_backend(checkpoint, {.threads = 1, .cache_rows = cache_rows});
    ASSERT_TRUE(made) << made.error().message;
    const std::unique_ptr<Backend> host = std::move(*made);
    Outputs on_device;
    Outputs on_host;
    const auto run = [&](const OwnedBatch& batch) {
      const auto by_device = device->forward(batch.view(), on_device);
      ASSERT_TRUE(by_device) << by_device.error().message;
      ASSERT_TRUE(host->forward(batch.view(), on_host));
      expect_close(on_device.hidden, on_host.hidden, shape.d_model);
      expect_close(on_device.logits, on_host.logits, shape.vocab);
      rows_compared += on_host.logits.size() / static_cast<std::size_t>(shape.vocab);
    };
    // Every third prompt is wider than the decode kernels take.
    const std::int32_t context = round % 3 == 0 ? pick(random, 65, 100) : pick(random, 1, 64);
    OwnedBatch prompt = chain(shape, random, context, 0);
    prompt.wanted.head_from = context - 1;
    run(prompt);

    const std::int32_t rows = pick(random, 1, 64);
    OwnedBatch batch =
        chance(random, 0.5) ? tree(shape, random, rows, context) : chain(shape, random, rows, context);
    if (chance(random, 0.6)) batch.mask = random_mask(random, shape.n_layers, 0.4);
    if (chance(random, 0.4)) batch.layers.end = pick(random, 0, shape.n_layers);
    if (chance(random, 0.5))
      for (std::int32_t b = 0; b <= batch.layers.end; ++b) batch.hidden_after.push_back(b);
    run(batch);
  }
  EXPECT_GT(rows_compared, 200U);
}

}  // namespace
}  // namespace draftscope::engine::test
