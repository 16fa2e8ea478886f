// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Each format that a device multiplies, as a model's type and that of its layers' matrices.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>

#include <vector>

namespace draftscope::engine::test {

struct HeldFormat {
  DType dtype = DType::bf16;
  CudaWeights weights;  ///< none: as stored
};

inline std::vector<HeldFormat> every_held_format() {
  using enum speculation::WeightFormat;
  std::vector<HeldFormat> formats{{DType::bf16, {}}, {DType::f16, {}}, {DType::f16, int4}};
  for (const auto weights : {fp8, q8_0, q4_0, q4_k, int4, fp8_block})
    formats.push_back({DType::bf16, weights});
  return formats;
}

}  // namespace draftscope::engine::test
