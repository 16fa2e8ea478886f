// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tells which kernel of the engine a function is that the host code registers and launches.

#include <string>

#include "cuda/launch.h"

namespace draftscope::cuda_stand_in {

struct RegisteredKernel {
  std::string symbol;  ///< in the device's code
  bool is_known = false;
  engine::cuda::Launch launch;  ///< without blocks and shared memory
  int threads = 0;
};

/// From the host code's start, before main().
void register_kernel(const void* function, const char* symbol);

/// Null if no such function was registered.
[[nodiscard]] const RegisteredKernel* find_kernel(const void* function);

/// A function that is such a kernel; null if there is none.
[[nodiscard]] const void* function_of(engine::cuda::Kernel kernel);

/// The arguments of a kernel that is known, from what a launch points to.
[[nodiscard]] engine::cuda::KernelParams params_of(const RegisteredKernel& kernel, const void* argument);

}  // namespace draftscope::cuda_stand_in
