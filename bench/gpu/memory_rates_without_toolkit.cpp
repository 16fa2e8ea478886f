// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory_rates.h"

namespace draftscope::bench {

Result<std::unique_ptr<MemoryRates>> make_memory_rates(std::size_t /*pool_bytes*/) {
  return fail("no CUDA device: found a build without the CUDA toolkit, expected one with it");
}

}  // namespace draftscope::bench
