// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The embedded backend, and the reference for others. Weights are read where the checkpoint maps them. bf16
// models: activations rounded to bf16 at the products' inputs, fp32 accumulation, residual stream in fp32,
// K/V in bf16. fp16 models: fp32 activations, K/V in bf16. fp32 models: fp32 throughout. Products up to
// max_invariant_rows() rows run on our weight-streaming kernel, chosen for the processor at run time; wider
// ones (prefill) on oneDNN.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace draftscope::engine {

struct CpuOptions {
  std::int32_t threads = 0;     ///< 0 = one per core that this process may use
  std::int32_t cache_rows = 0;  ///< 0 = min(max_positions, 4096)
  /// Instruction set of the kernels: "portable", "avx2", "avx512", "avx512-bf16" or "amx-bf16"; "" = the best
  /// this processor has. One that is not available is refused, with the processor's list.
  std::string_view kernels;
  /// Format that plain matrices are rounded to when they are loaded; none = as in the checkpoint.
  std::optional<speculation::WeightFormat> weights;
  /// Whether oneDNN runs products beyond the invariant widths; false = our kernels at any width.
  bool wide_products = true;
};

/// Backend of a checkpoint on this machine's processor. Fails on kernels that the processor lacks, and if
/// memory is short. The backend stores `checkpoint`, whose bytes it shares.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cpu_backend(Checkpoint checkpoint,
                                                                const CpuOptions& options);

}  // namespace draftscope::engine
