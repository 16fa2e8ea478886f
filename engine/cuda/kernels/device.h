// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device's vocabulary for kernels. Kernels are plain function templates over this vocabulary. So nvcc
// compiles them for a GPU, and any C++ compiler compiles them against an emulation of one
// (tests/without_gpu). The emulation runs every thread of a block on the host, so that the same source is
// checked without a GPU.
//
// All indices are one-dimensional. Collectives (`shuffle_xor`, `multiply_accumulate`, `synchronise_lanes`)
// are called by all 32 threads of a warp, `synchronise` by all threads of a block.

#include <cstdint>

#include "launch_shape.h"

#if defined(__CUDACC__)
#include "device_cuda.h"
#else
#include "device_emulation.h"
#endif

namespace draftscope::engine::cuda {

/// 16 bytes, the widest load there is.
struct alignas(16) Chunk {
  std::uint32_t words[4];
};

/// 16 bytes.
struct alignas(16) FloatChunk {
  float values[4];
};

/// 8 bytes.
struct alignas(8) HalfChunk {
  std::uint32_t words[2];
};

}  // namespace draftscope::engine::cuda
