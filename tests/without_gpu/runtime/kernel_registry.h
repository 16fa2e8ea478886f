// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Maps functions that host code registers and launches to the engine's kernels.

#include <string>

#include "cuda/launch.h"

namespace draftscope::cuda_stand_in {

struct RegisteredKernel {
  std::string symbol;  ///< Name in the device's code.
  bool is_known = false;
  engine::cuda::Launch launch;  ///< It has no blocks and no shared memory.
  int threads = 0;
};

/// Called when the host code starts, before main().
void register_kernel(const void* function, const char* symbol);

/// Null if no such function was registered.
[[nodiscard]] const RegisteredKernel* find_kernel(const void* function);

/// A registered function of that kernel; null if there is none.
[[nodiscard]] const void* function_of(engine::cuda::Kernel kernel);

/// The arguments of a known kernel, read from the pointers of a launch.
[[nodiscard]] engine::cuda::KernelParams params_of(const RegisteredKernel& kernel, const void* argument);

}  // namespace draftscope::cuda_stand_in
