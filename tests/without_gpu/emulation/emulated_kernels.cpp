// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_kernels.h"

#include <boost/core/demangle.hpp>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>

#include "cuda/dispatch.h"

namespace draftscope::engine::cuda::emulation {

namespace {

/// A kernel's type without the namespaces that all share.
std::string name_of(const std::type_info& type) {
  constexpr std::string_view shared = "draftscope::engine::cuda::";
  std::string name = boost::core::demangle(type.name());
  for (std::size_t at = name.find(shared); at != std::string::npos; at = name.find(shared))
    name.erase(at, shared.size());
  return name;
}

}  // namespace

EmulatedKernel emulated_kernel(const Launch& launch, const KernelParams& params) {
  EmulatedKernel made;
  const auto make = [&]<typename Body>() {
    const auto& arguments = std::get<typename Body::Params>(params);
    made.name = [] { return name_of(typeid(Body)); };
    made.grid = {launch.blocks, Body::threads, launch.shared_bytes, launch.kernel == Kernel::program};
    made.body = [arguments] { Body::run(arguments); };
    if constexpr (requires { arguments.pass.work; }) made.work = arguments.pass.work;
  };
  if (launch.kernel == Kernel::program)
    visit_program(launch.format, make);
  else
    visit_kernel(launch, make);
  return made;
}

}  // namespace draftscope::engine::cuda::emulation
