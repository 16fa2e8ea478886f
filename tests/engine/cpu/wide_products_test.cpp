// SPDX-License-Identifier: GPL-3.0-or-later
// Compares oneDNN's products, which prefill uses, with our own.

#include <gtest/gtest.h>

#include <span>

#include "backends.h"
#include "random_model.h"
#include "relative_error.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t cache_rows = 160;

TEST(WideProducts, AgreeWithOurKernelsWithinRounding) {
  Random random(19);
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (int round = 0; round < 4; ++round) {
      const speculation::ModelShape shape = random_shape(random);
      const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
      const auto wide = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows});
      const auto ours =
          make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows, .wide_products = false});
      const OwnedBatch batch = chain(shape, random, pick(random, 65, 150), 0);
      const Outputs a = outputs_of(*wide, batch.view());
      const Outputs b = outputs_of(*ours, batch.view());
      const auto vocab = static_cast<std::size_t>(shape.vocab);
      for (std::size_t row = 0; row < batch.rows.size(); ++row) {
        const std::span<const float> found(a.logits.data() + row * vocab, vocab);
        const std::span<const float> expected(b.logits.data() + row * vocab, vocab);
        ASSERT_LT(largest_error(found, expected), dtype == DType::f32 ? 2e-4 : 5e-2);
      }
    }
}

}  // namespace
}  // namespace draftscope::engine::test
