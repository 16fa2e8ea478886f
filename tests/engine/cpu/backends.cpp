// SPDX-License-Identifier: GPL-3.0-or-later
#include "backends.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/kernels.h"
#include "tested_backend.h"

namespace draftscope::engine::test {

std::unique_ptr<Backend> make_backend(const Checkpoint& checkpoint, const CpuOptions& options) {
  auto backend = make_cpu_backend(checkpoint, options);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const cpu::Kernels* kernels : cpu::available_kernels()) names.emplace_back(kernels->name);
  return names;
}

std::string test_name(std::string kernels) {
  std::ranges::replace(kernels, '-', '_');
  return kernels;
}

std::vector<TestedBackend> tested_backends() {
  std::vector<TestedBackend> tested;
  for (const std::string& kernels : kernel_names())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      tested.push_back(
          {test_name(kernels) + "_" + std::string(dtype_name(dtype)), dtype, random_shape,
           [](const speculation::ModelFamily&) { return true; },
           [kernels](const Checkpoint& checkpoint, std::int32_t threads, std::int32_t cache_rows) {
             return make_backend(checkpoint,
                                 {.threads = threads, .cache_rows = cache_rows, .kernels = kernels});
           }});
  return tested;
}

}  // namespace draftscope::engine::test
