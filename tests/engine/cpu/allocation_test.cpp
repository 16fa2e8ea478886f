// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding allocates nothing. This program counts every call of operator new.

#include <gtest/gtest.h>

#include "allocation_count.h"
#include "backends.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

TEST(Allocations, AreNoneOnceThePassesHaveBeenAsWideAsTheyWillBe) {
  Random random(23);
  for (const std::string& kernels : kernel_names())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      speculation::ModelShape shape = random_shape(random);
      shape.sliding_window = 0;
      const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
      const auto backend = make_backend(checkpoint, {.threads = 2, .cache_rows = 160, .kernels = kernels});
      Outputs outputs;
      OwnedBatch widest = tree(shape, random, 64, 40);
      for (std::int32_t boundary = 0; boundary <= shape.n_layers; ++boundary)
        widest.hidden_after.push_back(boundary);
      widest.wanted.top_k = std::min(shape.vocab, 3);
      ASSERT_TRUE(backend->forward(chain(shape, random, 64, 0).view(), outputs));
      ASSERT_TRUE(backend->forward(widest.view(), outputs));
      const OwnedBatch draft = chain(shape, random, 1, 41);
      const OwnedBatch verification = chain(shape, random, 9, 42);
      const OwnedBatch branches = tree(shape, random, 30, 44);
      const Batch batches[] = {draft.view(), verification.view(), branches.view(), widest.view()};
      const std::int64_t before = allocation_count();
      for (const Batch& batch : batches) ASSERT_TRUE(backend->forward(batch, outputs));
      EXPECT_EQ(allocation_count() - before, 0) << kernels << ' ' << dtype_name(dtype);
    }
}

}  // namespace
}  // namespace draftscope::engine::test
