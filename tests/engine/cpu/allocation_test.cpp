// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding allocates nothing: every operator new of this program is counted.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backends.h"
#include "random_model.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace draftscope::engine::test {
namespace {

TEST(Allocations, AreNoneOnceThePassesHaveBeenAsWideAsTheyWillBe) {
  Random random(23);
  for (const std::string& kernels : kernel_names())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      ModelShape shape = random_shape(random);
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
      const std::int64_t before = allocations;
      for (const Batch& batch : batches) ASSERT_TRUE(backend->forward(batch, outputs));
      EXPECT_EQ(allocations - before, 0) << kernels << ' ' << dtype_name(dtype);
    }
}

}  // namespace
}  // namespace draftscope::engine::test
