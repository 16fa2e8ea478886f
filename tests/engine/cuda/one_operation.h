// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One operation of a program in isolation, on a device whose memory is the host's.

#include <draftscope/base/result.h>
#include <draftscope/base/to_size.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/gpu.h"
#include "cuda/kernels/program_params.h"

namespace draftscope::engine::test {

/// Runs an operation other than a product over rows [row_begin, row_begin + rows) of a pass. It has `scratch`
/// bytes and items of attention of up to `attention_tiles` tiles.
[[nodiscard]] inline Result<void> run_operation(cuda::Gpu& gpu, cuda::KernelFormat format,
                                                const cuda::PassParams& pass,
                                                const cuda::Operation& operation, std::int32_t row_begin,
                                                std::int32_t rows, std::size_t scratch,
                                                std::int32_t attention_tiles = cuda::max_item_tiles) {
  constexpr std::size_t alignment = 128;
  constexpr cuda::RingShape ring{.places = 1, .place_bytes = cuda::part_code_bytes, .parts = 1};
  const std::size_t aligned = (scratch + alignment - 1) / alignment * alignment;
  const cuda::ProgramEntry entry = 0;
  cuda::ProgramState state{};
  cuda::ProgramParams params{.pass = pass, .operations = &operation, .entries = &entry};
  params.last = 1;
  params.row_begin = row_begin;
  params.rows = rows;
  params.state = &state;
  params.scratch_bytes = static_cast<std::int32_t>(aligned);
  params.block_bytes = cuda::program_block_bytes(1, 0);
  params.attention_tiles = attention_tiles;
  params.ring = ring;
  DRAFTSCOPE_TRY(gpu.launch({.kernel = cuda::Kernel::program,
                             .format = format,
                             .blocks = gpu.describe().multiprocessors,
                             .shared_bytes = aligned + to_size(params.block_bytes) +
                                             cuda::product_slices * std::size_t{cuda::part_code_bytes}},
                            params));
  return gpu.synchronise();
}

}  // namespace draftscope::engine::test
