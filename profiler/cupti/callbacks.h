// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Functions that CUPTI calls back: clock, buffers, news of graphs. Plain functions, for some of them carry no
// user data. What they touch lives as long as the process: CUPTI's threads may call late, even while it ends.

#include <cupti.h>
#include <cstddef>
#include <cstdint>

#include "activity_buffers.h"
#include "failures.h"
#include "graph_parts.h"
#include "layer_lists.h"
#include "library.h"

namespace draftscope::profiler::cupti {

struct CallbackState {
  Library library;
  ActivityBuffers buffers;
  GraphParts parts;
  LayerLists layer_lists;
  Failures failures;
};

/// Never destroyed. `library` is set before a session subscribes, and only on_resource() reads it, which
/// nobody calls between sessions.
[[nodiscard]] CallbackState& callback_state();

std::uint64_t CUPTIAPI on_timestamp();
void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t bytes, std::size_t valid_bytes);
void CUPTIAPI on_resource(void* user_data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data);

/// The resource callbacks that on_resource() understands.
inline constexpr CUpti_CallbackIdResource resource_callbacks[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                                                  CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                                                  CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED};

}  // namespace draftscope::profiler::cupti
