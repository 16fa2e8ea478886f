// SPDX-License-Identifier: GPL-3.0-or-later
// What streams capture, graphs, and loops in them.

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "activity.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

cudaGraph_t handle_of(Graph& graph) {
  return reinterpret_cast<cudaGraph_t>(&graph);
}

/// Whether a graph is there, as one of its own or as a loop's body.
bool is_there(const State& s, Graph* graph) {
  if (s.graphs.contains(graph)) return true;
  return std::any_of(s.graphs.begin(), s.graphs.end(), [&](const Graph* outer) {
    return std::any_of(outer->loops.begin(), outer->loops.end(),
                       [&](const std::unique_ptr<LoopNode>& loop) { return &loop->body == graph; });
  });
}

bool is_captured_into(const State& s, const Graph* graph) {
  return std::any_of(s.streams.begin(), s.streams.end(),
                     [&](const Stream* stream) { return stream->captured == graph; });
}

/// The loop of a conditional node's parameters, as the engine asks for one.
cudaError_t check_loop(State& s, const Graph& graph, const cudaGraphNodeParams& params,
                       Condition& condition) {
  const cudaConditionalNodeParams& wanted = params.conditional;
  if (params.type != cudaGraphNodeTypeConditional || wanted.type != cudaGraphCondTypeWhile ||
      wanted.size != 1)
    return s.refuse(cudaErrorInvalidValue, "another node than a loop with one body");
  const auto found = std::find_if(graph.conditions.begin(), graph.conditions.end(),
                                  [&](const Condition& made) { return made->handle() == wanted.handle; });
  if (found == graph.conditions.end())
    return s.refuse(cudaErrorInvalidValue, "a loop with a condition that was not made for its graph");
  condition = *found;
  return cudaSuccess;
}

/// A graph's operations with those of its loops.
std::vector<Operation> executable_operations(const Graph& graph) {
  std::vector<Operation> operations = graph.operations;
  for (Operation& operation : operations) {
    if (operation.work != Work::loop) continue;
    operation.condition = operation.loop->condition;
    operation.body = operation.loop->body.operations;
    operation.loop = nullptr;
  }
  return operations;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode /*mode*/) {
  return call("cudaStreamBeginCapture", InCapture::refused, false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(handle);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    stream->own = std::make_unique<Graph>();
    stream->captured = stream->own.get();
    stream->is_invalid = false;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph_handle,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* /*edges*/, std::size_t n_dependencies,
                                          cudaStreamCaptureMode /*mode*/) {
  return call("cudaStreamBeginCaptureToGraph", InCapture::refused, false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(handle);
    auto* const graph = reinterpret_cast<Graph*>(graph_handle);
    if (!s.streams.contains(stream) || !is_there(s, graph))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream or a graph that is not there");
    // What is in a graph already is a loop: what comes behind must wait for it.
    const bool waits = graph->operations.empty()
                           ? n_dependencies == 0
                           : n_dependencies == 1 && reinterpret_cast<LoopNode*>(dependencies[0]) ==
                                                        graph->operations.back().loop;
    if (!waits)
      return s.refuse(cudaErrorInvalidValue, "a capture that does not wait for the graph's last node");
    stream->captured = graph;
    stream->is_invalid = false;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  auto* const stream = reinterpret_cast<Stream*>(handle);
  Graph* captured = nullptr;
  std::unique_ptr<Graph> own;
  const cudaError_t error = call("cudaStreamEndCapture", InCapture::allowed, true, [&](State& s) {
    if (!s.streams.contains(stream) || stream->captured == nullptr)
      return s.refuse(cudaErrorInvalidValue, "the end of a capture that has not begun");
    captured = std::exchange(stream->captured, nullptr);
    own = std::move(stream->own);
    return stream->is_invalid ? s.refuse(cudaErrorStreamCaptureInvalidated, "a call that has no place in it")
                              : cudaSuccess;
  });
  if (error != cudaSuccess) return error;
  *graph = reinterpret_cast<cudaGraph_t>(captured);
  if (own != nullptr) state().graphs.insert(own.release());
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned /*flags*/) {
  return call("cudaGraphCreate", InCapture::allowed, false, [&](State& s) {
    *graph = handle_of(**s.graphs.insert(new Graph).first);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph_handle,
                                             unsigned at_first, unsigned flags) {
  return call("cudaGraphConditionalHandleCreate", InCapture::allowed, false, [&](State& s) {
    auto* const graph = reinterpret_cast<Graph*>(graph_handle);
    if (!s.settings.has_loops) return s.refuse(cudaErrorNotSupported, "a device without loops in graphs");
    if (!s.graphs.contains(graph)) return s.refuse(cudaErrorInvalidValue, "a graph that is not there");
    if (at_first != 1 || flags != cudaGraphCondAssignDefault)
      return s.refuse(cudaErrorInvalidValue, "a condition that a launch does not set to 1");
    graph->conditions.push_back(std::make_shared<Condition::element_type>());
    *handle = graph->conditions.back()->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph_handle,
                             const cudaGraphNode_t* /*dependencies*/, const cudaGraphEdgeData* /*edges*/,
                             std::size_t n_dependencies, cudaGraphNodeParams* params) {
  return call("cudaGraphAddNode", InCapture::allowed, false, [&](State& s) {
    auto* const graph = reinterpret_cast<Graph*>(graph_handle);
    if (!s.graphs.contains(graph)) return s.refuse(cudaErrorInvalidValue, "a graph that is not there");
    if (n_dependencies != 0 || !graph->operations.empty())
      return s.refuse(cudaErrorInvalidValue, "a node that is not the graph's first");
    Condition condition;
    if (const cudaError_t error = check_loop(s, *graph, *params, condition); error != cudaSuccess)
      return error;
    LoopNode& loop = *graph->loops.emplace_back(std::make_unique<LoopNode>());
    loop.condition = std::move(condition);
    loop.handle = handle_of(loop.body);
    params->conditional.phGraph_out = &loop.handle;
    Operation operation;
    operation.work = Work::loop;
    operation.loop = &loop;
    operation.node = activity::captured_node();
    graph->operations.push_back(std::move(operation));
    *node = reinterpret_cast<cudaGraphNode_t>(&loop);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle,
                                 unsigned long long /*flags*/) {
  return call("cudaGraphInstantiate", InCapture::allowed, false, [&](State& s) {
    auto* const graph = reinterpret_cast<Graph*>(handle);
    if (!s.graphs.contains(graph)) return s.refuse(cudaErrorInvalidValue, "a graph that is not there");
    if (graph->conditions.size() != graph->loops.size())
      return s.refuse(cudaErrorInvalidValue, "a condition that no node of its graph has");
    auto made = std::make_unique<Executable>();
    made->operations = executable_operations(*graph);
    made->number = activity::made_executable(made->operations);
    *executable = reinterpret_cast<cudaGraphExec_t>(made.get());
    s.executables.insert(made.release());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return call("cudaGraphDestroy", InCapture::allowed, true, [&](State& s) {
    if (is_captured_into(s, reinterpret_cast<Graph*>(handle)))
      return s.refuse(cudaErrorInvalidValue, "a graph that a stream captures into");
    return destroy(s, s.graphs, handle, "a graph that is not there");
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call("cudaGraphExecDestroy", InCapture::allowed, true, [&](State& s) {
    return destroy(s, s.executables, executable, "an executable graph that is not there");
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call("cudaGraphLaunch", InCapture::refused, false, [&](State& s) {
    auto* const executable = reinterpret_cast<Executable*>(handle);
    auto* const stream = reinterpret_cast<Stream*>(stream_handle);
    if (!s.executables.contains(executable) || !s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "an executable graph or a stream that is not there");
    const std::uint32_t correlation = activity::called(activity::Call::graph_launch);
    for (Operation operation : executable->operations) {
      operation.correlation = correlation;
      for (Operation& of_body : operation.body) of_body.correlation = correlation;
      s.enqueue(*stream, std::move(operation));
    }
    return cudaSuccess;
  });
}

}  // extern "C"
