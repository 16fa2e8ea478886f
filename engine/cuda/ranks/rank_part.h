// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A rank's part of a model as the device holds it. What is cut how, and what of it is whole, is the CPU's
// (cpu/rank_tensors.h); here the parts of o and down become one matrix again, one part below the other, so
// that each has scales of its own where weights are fp8, and uploads, drafts and memory are those of any
// checkpoint.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/memory.h"
#include "cpu/rank_tensors.h"

namespace draftscope::engine::cuda {

struct RankPart {
  cpu::RankPlace place;
  /// The shape has the rank's heads, K/V heads and d_ff. o and down are [parts · d_model][columns of a part];
  /// their biases are every rank's, which adds them behind the sum. The head has the rank's tokens.
  Checkpoint checkpoint;
  std::int32_t o_parts = 1;
  std::int32_t down_parts = 1;
  std::vector<std::int32_t> first_tokens;  ///< of each rank, and the vocabulary's end
  cpu::Memory columns;                     ///< what o and down point into, until they are uploaded
  std::vector<float> scales;               ///< of those, where they are stored in fp8

  [[nodiscard]] std::int32_t tokens(std::int32_t rank) const {
    return first_tokens[static_cast<std::size_t>(rank) + 1] - first_tokens[static_cast<std::size_t>(rank)];
  }
  /// Tokens of the rank that has most.
  [[nodiscard]] std::int32_t max_tokens() const;
};

/// Shares its bytes with the checkpoint, which must outlive it, but for o and down. Errors: the model can't
/// be divided by so many ranks in widths that the kernels take, its matrices are not in memory, memory is
/// short.
[[nodiscard]] Result<std::unique_ptr<RankPart>> make_rank_part(const Checkpoint& checkpoint,
                                                               CudaWeights weights, cpu::RankPlace place);

}  // namespace draftscope::engine::cuda
