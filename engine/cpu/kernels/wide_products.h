// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Products for more rows than max_invariant_rows(): prefill, where arithmetic and not memory decides. oneDNN
// does them, each of our threads running its own blocks of outputs on one oneDNN thread, so that there is one
// pool of threads and not two. Weights stay in their row-major layout; primitives are cached by shape.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace draftscope::engine::cpu {

/// out[row][o] = Σ_k weights[o][k] · activations[row][k]. The order of the sum is a function of the task's
/// sizes: who wants the same bits from any number of threads hands out the same tasks.
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
  /// Thread `thread` of the team calls this for its share; distinct threads may call at the same time.
  virtual void run(std::int32_t thread, const WideTask& task) = 0;
};

/// Null where oneDNN has no good path for this type on this processor, or the build has no oneDNN; our own
/// kernels then do all widths.
[[nodiscard]] std::unique_ptr<WideProducts> make_wide_products(DType dtype, std::int32_t threads);

}  // namespace draftscope::engine::cpu
