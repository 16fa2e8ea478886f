// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/cpu_backend.h>
#include <memory>
#include <string>
#include <vector>

namespace draftscope::engine::test {

/// Makes a backend, or throws with its error.
std::unique_ptr<Backend> make_backend(const Checkpoint& checkpoint, const CpuOptions& options);

/// Names of every kernel set that this processor can run.
std::vector<std::string> kernel_names();

/// A kernel set's name, such as "avx512-bf16", as part of a test's name.
std::string test_name(std::string kernels);

}  // namespace draftscope::engine::test
