// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/cpu_backend.h>
#include <memory>
#include <string>
#include <vector>

namespace draftscope::engine::test {

/// A backend that must come to be; throws with its error otherwise.
std::unique_ptr<Backend> make_backend(const Checkpoint& checkpoint, const CpuOptions& options);

/// Every kernel set this processor can run.
std::vector<std::string> kernel_names();

/// "avx512-bf16" as part of a test's name.
std::string test_name(std::string kernels);

}  // namespace draftscope::engine::test
