// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/backend.h"
#include "cuda/weights/model_upload.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {

std::string held_weights(const Checkpoint& checkpoint, const CudaOptions& options, std::size_t memory_bytes) {
  const auto made =
      cuda::make_backend(cuda::emulation::make_emulated_gpu(2, memory_bytes), checkpoint, options);
  return made ? (*made)->describe().weights : made.error().message;
}

void expect_memory_of_packed(const Checkpoint& packed, const Checkpoint& widened, const std::string& held) {
  EXPECT_EQ(backend_on_device(packed, {.cache_rows = 40})->describe().weight_bytes,
            cuda::upload_bytes(packed, CudaWeights()).kept);
  const CudaOptions options{.cache_rows = 9};
  std::size_t too_little = 0;
  std::size_t enough = plenty_of_memory;
  while (enough - too_little > 1) {
    const std::size_t middle = too_little + (enough - too_little) / 2;
    (held_weights(packed, options, middle) == held ? enough : too_little) = middle;
  }
  EXPECT_EQ(held_weights(packed, options, enough), held);
  EXPECT_THAT(held_weights(packed, options, too_little), testing::HasSubstr(" of device memory ("));
  EXPECT_THAT(held_weights(widened, options, enough), testing::HasSubstr(" of device memory ("));
}

speculation::ModelShape shape_of_whole_groups() {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.d_model = 512;
  shape.d_ff = 1024;
  shape.n_heads = 16;
  shape.n_kv_heads = 4;
  shape.vocab = 64;
  return shape;
}

}  // namespace draftscope::engine::test
