// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "cuda/backend.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "tested_backend.h"

namespace draftscope::engine::test {

std::unique_ptr<Backend> backend_on_device(const Checkpoint& checkpoint, const CudaOptions& options,
                                           std::int32_t multiprocessors) {
  static std::uint32_t seed = 0;  // Each backend runs blocks in a different order.
  ++seed;
  // Passes alternate, so that a test of two backends also compares programs with plain launches.
  CudaOptions taken = options;
  taken.passes = seed % 2 == 0 ? DecodingPasses::plain : DecodingPasses::programs;
  auto backend = cuda::make_backend(
      cuda::emulation::make_emulated_gpu(multiprocessors, cuda::emulation::usual_memory_bytes, seed),
      checkpoint, taken);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

int models_of_a_long_test() {
  return 3;  // The third one is in fp16.
}

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  for (const DType dtype : {DType::bf16, DType::f16})
    tested.push_back(
        {std::string(dtype_name(dtype)), dtype, random_cuda_shape, computed_by_cuda,
         [](const Checkpoint& checkpoint, std::int32_t multiprocessors, std::int32_t cache_rows) {
           return backend_on_device(checkpoint, {.cache_rows = cache_rows}, multiprocessors);
         }});
  return tested;
}

}  // namespace draftscope::engine::test
