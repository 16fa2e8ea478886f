// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device of a test program: a GPU, or the emulation of one. Each program has its own.

#include <draftscope/engine/cuda_backend.h>

#include <cstdint>
#include <memory>

namespace draftscope::engine::test {

/// Makes a backend; throws with its error if that fails. `multiprocessors` is the number that an emulated
/// device has.
[[nodiscard]] std::unique_ptr<Backend> backend_on_device(const Checkpoint& checkpoint,
                                                         const CudaOptions& options,
                                                         std::int32_t multiprocessors = 2);

/// Number of random models in a long test; small if the device is emulated.
[[nodiscard]] int models_of_a_long_test();

}  // namespace draftscope::engine::test
