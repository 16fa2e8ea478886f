// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_kernels.h"

#include <boost/core/demangle.hpp>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>

#include "cuda/dispatch.h"
#include "cuda/program_dispatch.h"

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

QueuedKernel emulated_kernel(const Launch& launch, const KernelParams& params) {
  QueuedKernel made;
  const auto make = [&]<typename Body>() {
    made = {[] { return name_of(typeid(Body)); },
            {launch.blocks, Body::threads, launch.shared_bytes, waits_by_itself(launch.kernel)},
            [arguments = std::get<typename Body::Params>(params)] { Body::run(arguments); },
            {}};
    made.grid.is_cooperative = launch.kernel == Kernel::program;
  };
  if (is_of_programs(launch.kernel))
    visit_program(launch, make);
  else
    visit_kernel(launch, make);
  return made;
}

}  // namespace draftscope::engine::cuda::emulation
