// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device memory of a backend, except for its weights.

#include <draftscope/base/result.h>
#include <draftscope/base/to_size.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>

#include "device_memory.h"
#include "kernels/params.h"
#include "kernels/pass_state.h"

namespace draftscope::engine::cuda {

inline constexpr std::int32_t max_extra_keys = 64 * 1024;  ///< Maximum over all rows of a batch together.
inline constexpr std::size_t max_pairs = 4096;             ///< Maximum pairs of states per launch.

struct BufferSizes {
  std::int32_t cache_rows = 0;
  std::int32_t rows = 0;       ///< Rows of the widest pass.
  std::int32_t positions = 0;  ///< Rows of the rotary tables.
};

/// All device memory except for the weights.
struct Buffers {
  DeviceLayer* layers = nullptr;
  std::int32_t* extra_keys = nullptr;
  float* hidden = nullptr;
  NumberPair* pairs = nullptr;  ///< [max_pairs], states of the bank
  float* cosines = nullptr;     ///< [max_pairs]
  HeadResult* top = nullptr;
  RowMove* moves = nullptr;
  float* cosine = nullptr;
  float* sine = nullptr;
  std::uint16_t* cache = nullptr;
  Workspace work{};
};

/// Takes the same pieces in the same order on every call. With a null base it only measures.
[[nodiscard]] Buffers place_buffers(Pieces& pieces, const speculation::ModelShape& shape,
                                    const BufferSizes& sizes);

/// Fails before any allocation if weights, buffers and the driver's own memory do not fit together.
[[nodiscard]] Result<void> check_memory(const Gpu& gpu, const Checkpoint& checkpoint,
                                        const CudaOptions& options, std::size_t buffer_bytes,
                                        std::int32_t cache_rows);

}  // namespace draftscope::engine::cuda
