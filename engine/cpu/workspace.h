// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every buffer a forward pass writes, reserved once for the largest batch. Pages that small batches never
// reach are never backed by memory.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "memory.h"

namespace draftscope::engine::cpu {

/// Activations of at most this many rows and values are normalised and packed by every thread for itself:
/// that is quicker than one thread's share plus a barrier.
inline constexpr std::int32_t private_rows = 16;
inline constexpr std::int64_t private_values = 8192;

/// Vocabulary entries whose logits are reduced together; thread shares are whole blocks, so that sums over
/// the vocabulary do not depend on how many threads there are.
inline constexpr std::int64_t head_block = 128;

/// Scratch memory of one thread.
struct ThreadWorkspace {
  float* row = nullptr;       ///< [max(d_model, q_width, d_ff)]
  std::byte* set = nullptr;   ///< a packed set of private_rows rows
  float* queries = nullptr;   ///< [group][head_stride]
  float* attended = nullptr;  ///< [group][head_stride]
  float* scores = nullptr;    ///< [group][score_stride]
  float* logits = nullptr;    ///< [max_rows][head_block]
};

struct Workspace {
  float* residual = nullptr;      ///< [rows][d_model], the residual stream
  float* qkv = nullptr;           ///< [rows][q_width + 2 kv_width]
  float* attended = nullptr;      ///< [rows][q_width]
  float* gate = nullptr;          ///< [rows][d_ff], then the gated product
  float* up = nullptr;            ///< [rows][d_ff]
  float* cosine = nullptr;        ///< [rows][rotary_width / 2]
  float* sine = nullptr;          ///< likewise
  float* local_cosine = nullptr;  ///< likewise, of layers with a window; null if they rotate as all do
  float* local_sine = nullptr;
  std::byte* set = nullptr;        ///< packed activations of the whole batch
  float* product = nullptr;        ///< [rows][d_model], sublayers' outputs before they are added
  BlockSoftmax* blocks = nullptr;  ///< [rows][head blocks]
  std::vector<ThreadWorkspace> threads;
  std::int64_t score_stride = 0;
  Memory memory;

  [[nodiscard]] static Result<Workspace> allocate(const speculation::ModelShape& shape,
                                                  const ProductKernels& products, std::int32_t rows,
                                                  std::int32_t cache_rows, std::int32_t threads);
};

}  // namespace draftscope::engine::cpu
