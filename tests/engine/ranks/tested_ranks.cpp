// SPDX-License-Identifier: GPL-3.0-or-later
// The properties of every backend (tests/engine/backend) on models that several ranks share.

#include <fmt/format.h>

#include "shared_backend.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

template <std::int32_t size>
speculation::ModelShape divided_shape(Random& random) {
  speculation::ModelShape shape = random_shape(random);
  const std::int32_t group = shape.n_heads / shape.n_kv_heads;
  shape.n_kv_heads = size * pick(random, 1, 2);
  shape.n_heads = group * shape.n_kv_heads;
  shape.d_ff = size * pick(random, 1, 40);
  return shape;
}

template <std::int32_t size>
void add(std::vector<TestedBackend>& tested, std::string_view kernels) {
  for (const DType dtype : {DType::f32, DType::bf16})
    tested.push_back(
        {fmt::format("{}_ranks_{}_{}", size, kernels.empty() ? "best" : kernels, dtype_name(dtype)), dtype,
         divided_shape<size>,
         [](const speculation::ModelFamily& family) {
           return family.traits.qk_norm != speculation::QkNorm::whole;
         },
         [kernels](const Checkpoint& checkpoint, std::int32_t threads, std::int32_t cache_rows) {
           return make_shared_backend(checkpoint, size,
                                      {.threads = threads, .cache_rows = cache_rows, .kernels = kernels});
         }});
}

}  // namespace

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  add<2>(tested, "");
  add<4>(tested, "portable");
  return tested;
}

}  // namespace draftscope::engine::test
