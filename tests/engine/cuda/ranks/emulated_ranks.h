// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks whose devices are emulated.

#include <draftscope/engine/cuda_backend.h>

#include "random_model.h"
#include "shared_backend.h"

namespace draftscope::engine::test {

/// Makes a rank's backend on an emulated device of its own, whose order of kernels is its own, too.
/// `options` are every rank's, its place aside.
[[nodiscard]] MakeRank make_emulated_rank(const CudaOptions& options, std::int32_t multiprocessors = 2);

/// A random shape within what the CUDA kernels take of each of `size` ranks. `even`: of up to eight ranks, in
/// eight parts.
[[nodiscard]] speculation::ModelShape shape_of_ranks(Random& random, std::int32_t size);
[[nodiscard]] speculation::ModelShape even_shape(Random& random);

}  // namespace draftscope::engine::test
