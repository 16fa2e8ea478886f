// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model whose matrices, or some of them, are Q4_K as a GGUF file has it, and the same numbers widened.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

/// Random blocks (every scale and minimum of 6 bits, and multiples of either sign, zeros and subnormals among
/// them) in the place of a plain model's layers. Depths are multiples of 256.
class InQ4K {
 public:
  /// `plain_share` of the matrices, gate and up together, stay the plain model's, but not all.
  InQ4K(const Checkpoint& plain, Random& random, double plain_share = 0.0);

  [[nodiscard]] Checkpoint& packed() { return packed_; }
  [[nodiscard]] const Checkpoint& widened() const { return widened_; }

 private:
  void pack(TensorView& packed, TensorView& widened, Random& random);

  Checkpoint packed_;
  Checkpoint widened_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
};

/// A random shape within what the CUDA kernels take, of depths that are multiples of 256.
[[nodiscard]] speculation::ModelShape random_q4_k_shape(Random& random);

}  // namespace draftscope::engine::test
