// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/memory_probe.h"

namespace draftscope::engine {

Result<std::unique_ptr<MemoryProbe>> make_cuda_memory_probe(std::size_t /*pool_bytes*/,
                                                            std::size_t /*part_bytes*/) {
  return fail("memory probe: this build has no CUDA, expected one made with the CUDA toolkit");
}

}  // namespace draftscope::engine
