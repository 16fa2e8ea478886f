// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_registry.h"

#include <boost/core/demangle.hpp>
#include <map>
#include <typeinfo>
#include <utility>

#include "cuda/dispatch.h"

namespace draftscope::cuda_stand_in {

namespace {

namespace cuda = engine::cuda;
using cuda::Kernel;
using cuda::KernelFormat;
using cuda::Launch;

std::map<const void*, RegisteredKernel>& registered() {
  static std::map<const void*, RegisteredKernel> kernels;
  return kernels;
}

/// Visits the body of a launch.
template <typename Visit>
auto visit_body(const Launch& launch, Visit&& visit) {
  return launch.kernel == Kernel::program ? cuda::visit_program(launch.format, std::forward<Visit>(visit))
                                          : cuda::visit_kernel(launch, std::forward<Visit>(visit));
}

/// Symbol of entry<Body> (engine/cuda/start_kernel.h) up to its arguments, demangled.
template <typename Body>
std::string entry_name() {
  const std::string body = boost::core::demangle(typeid(Body).name());
  return "void draftscope::engine::cuda::entry<" + body + (body.back() == '>' ? " >" : ">");
}

struct KnownKernel {
  Launch launch;
  int threads = 0;
};

/// Every kernel that a launch can start, by the name of its entry.
std::map<std::string, KnownKernel> all_kernels() {
  std::map<std::string, KnownKernel> all;
  for (int kernel = 0; kernel < cuda::kernel_count; ++kernel)
    for (int format = 0; format < cuda::kernel_format_count; ++format)
      for (int head_dim = cuda::dimension_block; head_dim <= cuda::max_head_dim;
           head_dim += cuda::dimension_block) {
        const Launch launch{.kernel = static_cast<Kernel>(kernel),
                            .format = static_cast<KernelFormat>(format),
                            .head_dim = head_dim};
        visit_body(launch, [&]<typename Body>() {
          all.emplace(entry_name<Body>(), KnownKernel{launch, Body::threads});
        });
      }
  return all;
}

void identify(RegisteredKernel& kernel) {
  static const std::map<std::string, KnownKernel> known = all_kernels();
  const std::string name = boost::core::demangle(kernel.symbol.c_str());
  const auto found = known.find(name.substr(0, name.find('(')));
  if (found == known.end()) return;
  kernel.is_known = true;
  kernel.launch = found->second.launch;
  kernel.threads = found->second.threads;
}

}  // namespace

void register_kernel(const void* function, const char* symbol) {
  registered()[function].symbol = symbol;
}

const RegisteredKernel* find_kernel(const void* function) {
  const auto found = registered().find(function);
  if (found == registered().end()) return nullptr;
  if (!found->second.is_known) identify(found->second);
  return &found->second;
}

const void* function_of(Kernel kernel) {
  for (const auto& [function, registration] : registered())
    if (find_kernel(function)->is_known && registration.launch.kernel == kernel) return function;
  return nullptr;
}

cuda::KernelParams params_of(const RegisteredKernel& kernel, const void* argument) {
  return visit_body(kernel.launch, [&]<typename Body>() -> cuda::KernelParams {
    return *static_cast<const typename Body::Params*>(argument);
  });
}

}  // namespace draftscope::cuda_stand_in
