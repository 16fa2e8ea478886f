// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The launches of a pass of any size on any device, as the engine would make them: nothing is run.

#include <draftscope/base/result.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/model_shape.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pass_kernel.h"

namespace draftscope::bench {

struct PlannedMachine {
  std::int32_t multiprocessors = 0;
  std::size_t shared_bytes = 0;  ///< most a block may have
};

/// Launches of one kernel: of one layer for those that layers have, else of the pass.
struct PlannedKernel : PassKernel {
  std::int32_t launches = 0;
  std::int32_t columns = 0;  ///< rows that a product computes in one launch
  std::int32_t blocks = 0;   ///< of a launch
  std::int32_t tiles = 0;    ///< that its blocks share; 0 if their number is not one of the output's
};

/// In the order of a pass: inputs, one layer, head. `weights`: the layers' matrices.
[[nodiscard]] Result<std::vector<PlannedKernel>> launch_plan(const speculation::ModelShape& shape,
                                                             const PlannedMachine& machine, std::int32_t rows,
                                                             engine::CudaWeights weights);

}  // namespace draftscope::bench
