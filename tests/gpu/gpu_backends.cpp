// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/cuda_backend.h>

#include <stdexcept>
#include <utility>

#include "cuda_shapes.h"
#include "lossless_backend.h"
#include "tested_backend.h"

namespace draftscope::engine {
namespace {

std::unique_ptr<Backend> cuda_backend(const Checkpoint& checkpoint, std::int32_t cache_rows) {
  auto backend = make_cuda_backend(checkpoint, {.cache_rows = cache_rows});
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

}  // namespace

std::unique_ptr<Backend> lossless_backend(const Checkpoint& checkpoint, std::int32_t cache_rows) {
  return cuda_backend(checkpoint, cache_rows);
}

namespace test {

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  for (const DType dtype : {DType::bf16, DType::f16})
    tested.push_back({std::string(dtype_name(dtype)), dtype, random_cuda_shape,
                      [](const Checkpoint& checkpoint, std::int32_t /*shares*/, std::int32_t cache_rows) {
                        return cuda_backend(checkpoint, cache_rows);
                      }});
  return tested;
}

}  // namespace test
}  // namespace draftscope::engine
