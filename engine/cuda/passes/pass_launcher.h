// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Launches that are not programs: a wide pass, whose products a library computes, and kernels that move or
// compare rows in device memory.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>

#include "cuda/gpu.h"
#include "program_runner.h"

namespace draftscope::engine::cuda {

class PassLauncher {
 public:
  /// `programs` must outlive it; a wide pass runs its operations one by one.
  PassLauncher(Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape,
               const PassFormats& formats, ProgramRunner& programs)
      : gpu_(gpu),
        base_(base),
        shape_(shape),
        formats_(formats),
        programs_(programs),
        device_(gpu.describe()) {}

  /// Runs one layer's sublayers for any number of rows. `keys_are_ranges`: each row's keys are consecutive
  /// cache rows, as in a chain.
  [[nodiscard]] Result<void> wide_layer(const LayerSlot& slot, const DeviceLayer& layer,
                                        const PackedLayer& weights, std::int32_t rows, bool keys_are_ranges);
  [[nodiscard]] Result<void> select_top(std::int32_t rows, std::int32_t k, HeadResult* top);
  /// Runs Kernel::move_states or compare_states.
  [[nodiscard]] Result<void> run_bank(Kernel kernel, std::int32_t n, const NumberPair* pairs, float* cosines);
  /// `layers` is in device memory.
  [[nodiscard]] Result<void> move_cache_rows(const DeviceLayer* layers, std::int32_t n_moves,
                                             const RowMove* moves);

  /// fp32 values that `Workspace::wide` needs for `rows` rows.
  [[nodiscard]] static std::size_t wide_values(const speculation::ModelShape& shape, std::int32_t rows);

 private:
  [[nodiscard]] Result<void> launch_wide(Kernel kernel, const DeviceLayer& layer, std::int32_t rows,
                                         Norm norm);
  [[nodiscard]] Result<void> attention(const LayerSlot& slot, const DeviceLayer& layer, std::int32_t rows,
                                       bool keys_are_ranges);
  [[nodiscard]] Result<void> finish_sublayer(const LayerSlot& slot, const DeviceLayer& layer,
                                             const PackedLayer& weights, std::int32_t rows, Norm sublayer);
  /// Workspace::wide = x · the product's weights, [rows][outputs].
  [[nodiscard]] Result<void> multiply(const PackedLayer& weights, OperationKind kind,
                                      const DeviceLayer& layer, const void* x, std::int32_t rows,
                                      std::int32_t outputs);

  Gpu& gpu_;
  PassParams base_;
  speculation::ModelShape shape_;
  PassFormats formats_;
  ProgramRunner& programs_;
  GpuDescription device_;
};

}  // namespace draftscope::engine::cuda
