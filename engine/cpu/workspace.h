// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every buffer that a forward pass writes, reserved once for the largest batch. Pages that small batches
// never reach are never backed by memory.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "memory.h"

namespace draftscope::engine::cpu {

/// Maximum rows, and maximum values (rows · depth), of activations that every thread normalises and packs for
/// itself. For so few, that is quicker than dividing the work among threads, plus a barrier.
inline constexpr std::int32_t private_rows = 16;
inline constexpr std::int64_t private_values = 8192;

/// Vocabulary entries whose logits are reduced together. Thread shares are whole blocks, so that sums over
/// the vocabulary do not depend on the number of threads.
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
  float* gate = nullptr;          ///< [rows][d_ff], first gate (or up without one), then the input of down
  float* up = nullptr;            ///< [rows][d_ff]
  float* cosine = nullptr;        ///< [rows][rotary_width / 2]
  float* sine = nullptr;          ///< [rows][rotary_width / 2]
  float* local_cosine = nullptr;  ///< [rows][rotary_width / 2] of layers with a window; null = same as others
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
