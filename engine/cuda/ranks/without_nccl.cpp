// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda/ranks/device_ranks.h"

namespace draftscope::engine::cuda {

Result<std::unique_ptr<DeviceRanks>> join_device_ranks(Collective& ranks) {
  return fail(
      "cuda backend: found a build without NCCL, expected one that CMake found NCCL for, to share a "
      "model among {}",
      ranks.size());
}

}  // namespace draftscope::engine::cuda
