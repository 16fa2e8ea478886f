// SPDX-License-Identifier: GPL-3.0-or-later
#include "callbacks.h"

#include <draftscope/base/clock.h>

#include <string_view>

namespace draftscope::profiler::cupti {
namespace {

void on_graph(CUpti_CallbackId id, const CUpti_GraphData& graph) {
  CallbackState& state = callback_state();
  std::uint64_t node = 0;
  std::uint64_t original = 0;
  std::uint32_t executable = 0;
  const auto told = [&](CUptiResult result, std::string_view what) {
    state.failures.note(result, what);
    return result == CUPTI_SUCCESS;
  };
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      if (told(state.library.cuptiGetGraphNodeId(graph.node, &node), "a captured node's id"))
        state.parts.node_created(node);
      return;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      if (told(state.library.cuptiGetGraphNodeId(graph.node, &node), "a cloned node's id") &&
          told(state.library.cuptiGetGraphNodeId(graph.originalNode, &original), "an original node's id"))
        state.parts.node_cloned(node, original);
      return;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      if (told(state.library.cuptiGetGraphExecId(graph.graphExec, &executable), "a graph's id"))
        state.parts.executable_created(executable);
      return;
    default:
      return;
  }
}

}  // namespace

CallbackState& callback_state() {
  static auto* const state = new CallbackState;
  return *state;
}

std::uint64_t CUPTIAPI on_timestamp() {
  return static_cast<std::uint64_t>(now_ns());
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = callback_state().buffers.request();
  *bytes = *buffer != nullptr ? ActivityBuffers::buffer_bytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                                  std::size_t /*bytes*/, std::size_t valid_bytes) {
  if (buffer != nullptr) callback_state().buffers.complete({buffer, valid_bytes});
}

void CUPTIAPI on_resource(void* /*user_data*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || data == nullptr) return;
  const auto* const resource = static_cast<const CUpti_ResourceData*>(data);
  if (resource->resourceDescriptor != nullptr)
    on_graph(id, *static_cast<const CUpti_GraphData*>(resource->resourceDescriptor));
}

}  // namespace draftscope::profiler::cupti
