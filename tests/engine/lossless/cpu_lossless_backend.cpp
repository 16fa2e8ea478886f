// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoded.h"
#include "lossless_backend.h"

namespace draftscope::engine {

std::unique_ptr<Backend> lossless_backend(const Checkpoint& checkpoint, std::int32_t cache_rows) {
  return cpu_backend(checkpoint, 1, cache_rows);
}

}  // namespace draftscope::engine
