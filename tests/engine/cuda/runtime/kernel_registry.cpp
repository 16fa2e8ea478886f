// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_registry.h"

#include <map>

#include "cuda/dispatch.h"
#include "ptx_gpu.h"
#include "run/readable_name.h"

namespace draftscope::cuda_stand_in {

namespace {

using engine::cuda::Kernel;
using engine::cuda::Launch;

std::map<const void*, RegisteredKernel>& registered() {
  static std::map<const void*, RegisteredKernel> kernels;
  return kernels;
}

/// By the kernel's readable name.
const std::map<std::string, Launch>& launches() {
  static const std::map<std::string, Launch> by_name = [] {
    std::map<std::string, Launch> made;
    for (const Launch& launch : engine::cuda::emulation::all_launches())
      made.emplace(engine::cuda::emulation::entry_name(launch), launch);
    return made;
  }();
  return by_name;
}

void identify(RegisteredKernel& kernel) {
  const auto found = launches().find(ptx::readable_name(kernel.symbol));
  if (found == launches().end()) return;
  kernel.is_known = true;
  kernel.launch = found->second;
  kernel.threads = engine::cuda::visit_kernel(found->second, []<typename Body>() { return Body::threads; });
}

}  // namespace

void register_kernel(const void* function, const char* symbol) {
  registered()[function].symbol = symbol;
}

const RegisteredKernel* find_kernel(const void* function) {
  const auto found = registered().find(function);
  if (found == registered().end()) return nullptr;
  if (found->second.threads == 0) identify(found->second);
  return &found->second;
}

const void* function_of(Kernel kernel) {
  for (const auto& [function, registration] : registered())
    if (find_kernel(function)->is_known && registration.launch.kernel == kernel) return function;
  return nullptr;
}

engine::cuda::KernelParams params_of(const RegisteredKernel& kernel, const void* argument) {
  return engine::cuda::visit_kernel(kernel.launch, [&]<typename Body>() -> engine::cuda::KernelParams {
    return *static_cast<const typename Body::Params*>(argument);
  });
}

}  // namespace draftscope::cuda_stand_in
