// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The exchange between devices of ranks that share a model: NCCL, where this build has it. It moves bytes and
// adds nothing (Gpu::all_gather() says why).
//
// Thread-safety: one caller at a time, with the rank's device as the current one.

#include <cuda_runtime.h>
#include <draftscope/base/result.h>
#include <draftscope/engine/ranks/collective.h>
#include <cstddef>
#include <memory>

namespace draftscope::engine::cuda {

class DeviceRanks {
 public:
  DeviceRanks() = default;
  DeviceRanks(const DeviceRanks&) = delete;
  DeviceRanks& operator=(const DeviceRanks&) = delete;
  /// Behind the end of what it was asked for, or an abort(), and of all graphs that hold any of it.
  virtual ~DeviceRanks() = default;
  /// As Gpu::all_gather(), in the stream's order; also while it is captured.
  [[nodiscard]] virtual Result<void> all_gather(void* all, std::size_t bytes, cudaStream_t stream) = 0;
  /// Whether another rank has been found to have ended. An exchange that waits for it never ends by itself.
  [[nodiscard]] virtual Result<void> check() = 0;
  /// Ends what is under way, however far it is. Nothing can be asked for behind it.
  virtual void abort() = 0;
};

/// This rank's part in the group of all, whose name `ranks` carry from rank 0 to the others. Every rank calls
/// it, and waits until all have. Errors: this build has no NCCL, a rank can't join. A rank that fails to join
/// ends the others' calls as far as NCCL hears of it.
[[nodiscard]] Result<std::unique_ptr<DeviceRanks>> join_device_ranks(Collective& ranks);

}  // namespace draftscope::engine::cuda
