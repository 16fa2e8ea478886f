// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A Gpu whose memory is the host's and whose kernels run on the host, thread by thread (block_emulation.h).

#include <memory>

#include "cuda/gpu.h"

namespace draftscope::engine::cuda::emulation {

/// `multiprocessors` few, so that blocks walk over several tiles. Memory is handed out full of NaNs.
[[nodiscard]] std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors = 3);

}  // namespace draftscope::engine::cuda::emulation
