// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Products for more rows than max_invariant_rows(): prefill, which is bound by arithmetic and not by memory.
// oneDNN computes them. Each of our threads runs its blocks of outputs on one oneDNN thread, so that there is
// one pool of threads instead of two. Weights stay in their row-major layout; primitives are cached by shape.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace draftscope::engine::cpu {

/// out[row][o] = Σ_k weights[o][k] · activations[row][k]. The order of the sum is a function of the task's
/// sizes. To get the same bits with any number of threads, a caller divides the work into the same tasks.
struct WideTask {
  const std::byte* weights = nullptr;      ///< [outputs][depth]
  const std::byte* activations = nullptr;  ///< [rows][depth], of the weights' type
  std::int64_t rows = 0;
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  float* out = nullptr;  ///< element (row, o) at row * out_stride + o
  std::int64_t out_stride = 0;
};

class WideProducts {
 public:
  virtual ~WideProducts() = default;
  /// Runs the share of thread `thread` of the team; distinct threads may call it at the same time.
  virtual void run(std::int32_t thread, const WideTask& task) = 0;
};

/// Makes the products. Null if oneDNN has no good path for this type on this processor, or the build has no
/// oneDNN; our kernels then do all widths.
[[nodiscard]] std::unique_ptr<WideProducts> make_wide_products(DType dtype, std::int32_t threads);

}  // namespace draftscope::engine::cpu
