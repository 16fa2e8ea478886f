// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Bytes that a kernel of a decode pass must move, from the shapes alone.

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/model_shape.h>

#include <cstdint>

#include "pass_kernel.h"

namespace draftscope::bench {

/// Each byte once. Norms and residuals are 4 bytes a value, activations, K/V and embeddings 2.
struct NeededBytes {
  std::uint64_t weights = 0;        ///< of matrices, with scales; read
  std::uint64_t cache_read = 0;     ///< K/V
  std::uint64_t cache_written = 0;  ///< K/V of the pass's own rows
  std::uint64_t others_read = 0;    ///< norms, and what comes from kernels before
  std::uint64_t others_written = 0;

  [[nodiscard]] std::uint64_t total() const {
    return weights + cache_read + cache_written + others_read + others_written;
  }
};

/// A kernel of one layer (or of the pass) for `rows` rows behind `context` committed ones, all products of a
/// kernel together; `weights` are the layers' matrices. Zero for kernels of other architectures than Llama's
/// and for those outside passes.
/// Summed over a pass of one row, weights, norms and K/V read are pass_bytes() up to the norms' width. Where
/// rows are normalised ahead of a product, norms and residuals are needed there, and the sum is the same.
[[nodiscard]] NeededBytes needed_bytes(const PassKernel& kernel, const speculation::ModelShape& shape,
                                       std::int32_t rows, std::int32_t context, engine::CudaWeights weights);

/// Bytes of normalised rows that a kernel writes for its product, or that the product reads: not needed, for
/// one kernel might do both.
[[nodiscard]] std::uint64_t passed_on_bytes(const PassKernel& kernel, const speculation::ModelShape& shape,
                                            std::int32_t rows);

/// Bytes of scales that a launch of a product asks for beside those needed: those that stand together for
/// more of the depth than a warp takes, or across the border of two warps' parts, each of these asks for.
[[nodiscard]] std::uint64_t scales_asked_again(engine::cuda::Kernel kernel,
                                               const speculation::ModelShape& shape,
                                               engine::CudaWeights weights);

}  // namespace draftscope::bench
