// SPDX-License-Identifier: GPL-3.0-or-later
// Devices of ranks, and the properties of every backend (tests/engine/backend) on models that they share.

#include "emulated_ranks.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "cuda/backend.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "tested_backend.h"

namespace draftscope::engine::test {

MakeRank make_emulated_rank(const CudaOptions& options, std::int32_t multiprocessors) {
  return [options, multiprocessors](const Checkpoint& checkpoint, Collective& ranks) {
    static std::atomic<std::uint32_t> seed = 0;
    CudaOptions own = options;
    own.ranks = &ranks;
    return cuda::make_backend(
        cuda::emulation::make_emulated_gpu(multiprocessors, cuda::emulation::usual_memory_bytes, ++seed,
                                           cuda::emulation::usual_shared_bytes, true, &ranks),
        checkpoint, own);
  };
}

std::unique_ptr<Backend> backend_on_device(const Checkpoint& checkpoint, const CudaOptions& options,
                                           std::int32_t multiprocessors) {
  auto backend = cuda::make_backend(cuda::emulation::make_emulated_gpu(multiprocessors), checkpoint, options);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

int models_of_a_long_test() {
  return 2;
}

speculation::ModelShape shape_of_ranks(Random& random, std::int32_t size) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.n_kv_heads = size;
  shape.n_heads = size * pick(random, 1, 3);
  shape.d_ff = 8 * size * pick(random, 1, 20);
  shape.vocab = pick(random, 4, 500);
  return shape;
}

speculation::ModelShape even_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.n_layers = 2;
  shape.n_kv_heads = 8;
  shape.n_heads = 8 * pick(random, 1, 2);
  shape.head_dim = 32;
  shape.d_model = 16 * pick(random, 1, 6);
  shape.d_ff = 8 * 16 * pick(random, 1, 3);
  shape.vocab = pick(random, 100, 1200);
  return shape;
}

namespace {

template <std::int32_t size>
void add(std::vector<TestedBackend>& tested, DType dtype) {
  tested.push_back({fmt::format("{}_ranks_{}", size, dtype_name(dtype)), dtype,
                    [](Random& random) { return shape_of_ranks(random, size); },
                    [](const speculation::ModelFamily& family) {
                      return computed_by_cuda(family) && family.traits.qk_norm != speculation::QkNorm::whole;
                    },
                    [](const Checkpoint& checkpoint, std::int32_t multiprocessors, std::int32_t cache_rows) {
                      return make_shared_backend(
                          checkpoint, size, make_emulated_rank({.cache_rows = cache_rows}, multiprocessors));
                    }});
}

}  // namespace

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  add<2>(tested, DType::bf16);
  add<3>(tested, DType::f16);
  return tested;
}

}  // namespace draftscope::engine::test
