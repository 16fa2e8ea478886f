// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace draftscope::bench {

/// Random bf16 values between -2 and 2: zeros may run faster than a model's weights.
cudaError_t launch_fill(void* to, std::size_t bytes, std::uint32_t seed, cudaStream_t stream);

}  // namespace draftscope::bench
