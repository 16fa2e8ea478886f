// SPDX-License-Identifier: GPL-3.0-or-later
#include "backends.h"

#include "kernels.h"

#include <algorithm>
#include <stdexcept>

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

}  // namespace draftscope::engine::test
