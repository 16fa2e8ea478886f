// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names a kernel and its launch configuration.

#include <cstddef>
#include <cstdint>
#include <variant>

#include "kernels/kernel_formats.h"
#include "kernels/params.h"
#include "kernels/program_params.h"

namespace draftscope::engine::cuda {

enum class Kernel : std::uint8_t {
  program,
  pack_pieces,
  unpack_pieces,
  // Parts of a wide pass that are in no program.
  prefill_attention,
  finish_wide_qkv,
  finish_wide_gate,
  add_wide,
  // All other kernels.
  select_top,
  move_cache_rows,
  move_states,
  compare_states,
};
inline constexpr int kernel_count = static_cast<int>(Kernel::compare_states) + 1;

struct Launch {
  Kernel kernel = Kernel::program;
  KernelFormat format = KernelFormat::bf16;
  int head_dim = 0;  ///< The head size of attention kernels.
  int blocks = 1;    ///< At most one per multiprocessor for a program, so that all are resident.
  std::size_t shared_bytes = 0;
};

using KernelParams = std::variant<BankParams, WideParams, TopParams, MoveParams, ProgramParams, PieceParams>;

}  // namespace draftscope::engine::cuda
