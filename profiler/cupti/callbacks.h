// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Functions that CUPTI calls back, for its clock and its buffers. They are plain functions, for they carry no
// user data. What they touch lives as long as the process: CUPTI's threads may call late, even while it ends.

#include <cupti.h>
#include <cstddef>
#include <cstdint>

#include "activity_buffers.h"

namespace draftscope::profiler::cupti {

/// The buffers of all sessions. Never destroyed.
[[nodiscard]] ActivityBuffers& activity_buffers();

std::uint64_t CUPTIAPI on_timestamp();
void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t bytes, std::size_t valid_bytes);

}  // namespace draftscope::profiler::cupti
