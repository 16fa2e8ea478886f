// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "lossless_backend.h"
#include "tested_backend.h"

namespace draftscope::engine {

std::unique_ptr<Backend> lossless_backend(const Checkpoint& checkpoint, std::int32_t cache_rows) {
  return test::backend_on_device(checkpoint, {.cache_rows = cache_rows});
}

namespace test {

std::unique_ptr<Backend> backend_on_device(const Checkpoint& checkpoint, const CudaOptions& options,
                                           std::int32_t /*multiprocessors*/) {
  static std::uint32_t made = 0;
  ++made;
  // Passes alternate, so that a test of two backends also compares programs with plain launches.
  CudaOptions taken = options;
  taken.passes = made % 2 == 0 ? DecodingPasses::plain : DecodingPasses::programs;
  auto backend = make_cuda_backend(checkpoint, taken);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

int models_of_a_long_test() {
  return 6;
}

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  for (const DType dtype : {DType::bf16, DType::f16})
    tested.push_back({std::string(dtype_name(dtype)), dtype, random_cuda_shape, computed_by_cuda,
                      [](const Checkpoint& checkpoint, std::int32_t /*shares*/, std::int32_t cache_rows) {
                        return backend_on_device(checkpoint, {.cache_rows = cache_rows});
                      }});
  return tested;
}

}  // namespace test
}  // namespace draftscope::engine
