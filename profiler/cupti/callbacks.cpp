// SPDX-License-Identifier: GPL-3.0-or-later
#include "callbacks.h"

#include <draftscope/base/clock.h>

namespace draftscope::profiler::cupti {

ActivityBuffers& activity_buffers() {
  static auto* const buffers = new ActivityBuffers;
  return *buffers;
}

std::uint64_t CUPTIAPI on_timestamp() {
  return static_cast<std::uint64_t>(now_ns());
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = activity_buffers().request();
  *bytes = *buffer != nullptr ? ActivityBuffers::buffer_bytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                                  std::size_t /*bytes*/, std::size_t valid_bytes) {
  if (buffer != nullptr) activity_buffers().complete({buffer, valid_bytes});
}

}  // namespace draftscope::profiler::cupti
