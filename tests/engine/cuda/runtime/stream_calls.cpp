// SPDX-License-Identifier: GPL-3.0-or-later
// Streams, what they capture, graphs and events.

#include <cuda_runtime.h>

#include <memory>
#include <utility>

#include "activity.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

template <typename Object>
cudaError_t destroy(State& s, std::set<Object*>& objects, void* handle, const char* what) {
  auto* const object = static_cast<Object*>(handle);
  if (objects.erase(object) == 0) return s.refuse(cudaErrorInvalidResourceHandle, what);
  delete object;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned /*flags*/) {
  return call("cudaStreamCreateWithFlags", InCapture::allowed, false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    *handle = reinterpret_cast<cudaStream_t>(*s.streams.insert(new Stream).first);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call("cudaStreamDestroy", InCapture::allowed, true,
              [&](State& s) { return destroy(s, s.streams, handle, "a stream that is not there"); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call("cudaStreamSynchronize", InCapture::refused, false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(handle);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    const std::uint64_t start_ns = activity::now_ns();
    const std::uint32_t correlation = activity::called(activity::Call::wait);
    const cudaError_t error = s.drain(*stream);
    activity::waited(correlation, start_ns);
    return error;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode /*mode*/) {
  return call("cudaStreamBeginCapture", InCapture::refused, false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(handle);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    stream->captured = std::make_unique<Graph>();
    stream->is_invalid = false;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  auto* const stream = reinterpret_cast<Stream*>(handle);
  std::unique_ptr<Graph> captured;
  const cudaError_t error = call("cudaStreamEndCapture", InCapture::allowed, true, [&](State& s) {
    if (!s.streams.contains(stream) || stream->captured == nullptr)
      return s.refuse(cudaErrorInvalidValue, "the end of a capture that has not begun");
    captured = std::move(stream->captured);
    return stream->is_invalid ? s.refuse(cudaErrorStreamCaptureInvalidated, "a call that has no place in it")
                              : cudaSuccess;
  });
  if (error != cudaSuccess) return error;
  *graph = reinterpret_cast<cudaGraph_t>(captured.get());
  state().graphs.insert(captured.release());
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle,
                                 unsigned long long /*flags*/) {
  return call("cudaGraphInstantiate", InCapture::allowed, false, [&](State& s) {
    auto* const graph = reinterpret_cast<Graph*>(handle);
    if (!s.graphs.contains(graph)) return s.refuse(cudaErrorInvalidValue, "a graph that is not there");
    auto made = std::make_unique<Executable>();
    made->operations = graph->operations;
    made->number = activity::made_executable(made->operations);
    *executable = reinterpret_cast<cudaGraphExec_t>(made.get());
    s.executables.insert(made.release());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", InCapture::allowed, true,
              [&](State& s) { return destroy(s, s.graphs, graph, "a graph that is not there"); });
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
      s.enqueue(*stream, std::move(operation));
    }
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", InCapture::allowed, false, [&](State& s) {
    *event = reinterpret_cast<cudaEvent_t>(*s.events.insert(new Event).first);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return call("cudaEventCreateWithFlags", InCapture::allowed, false, [&](State& s) {
    *event = reinterpret_cast<cudaEvent_t>(*s.events.insert(new Event).first);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call("cudaEventSynchronize", InCapture::refused, false, [&](State& s) {
    auto* const event = reinterpret_cast<Event*>(handle);
    if (!s.events.contains(event))
      return s.refuse(cudaErrorInvalidResourceHandle, "an event that is not there");
    for (Stream* const stream : s.streams)
      if (const cudaError_t error = s.drain(*stream, event); error != cudaSuccess) return error;
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", InCapture::allowed, true, [&](State& s) {
    for (Stream* const stream : s.streams)
      std::erase_if(stream->queue, [&](const Operation& operation) {
        return operation.work == Work::event && operation.event == reinterpret_cast<Event*>(event);
      });
    return destroy(s, s.events, event, "an event that is not there");
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  return call("cudaEventRecord", InCapture::refused, false, [&](State& s) {
    auto* const event = reinterpret_cast<Event*>(handle);
    auto* const stream = reinterpret_cast<Stream*>(stream_handle);
    if (!s.events.contains(event) || !s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "an event or a stream that is not there");
    Operation operation;
    operation.work = Work::event;
    operation.event = event;
    s.enqueue(*stream, std::move(operation));
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", InCapture::allowed, false, [&](State& s) {
    const auto* const first = reinterpret_cast<Event*>(from);
    const auto* const last = reinterpret_cast<Event*>(to);
    if (!first->is_recorded || !last->is_recorded) return s.refuse(cudaErrorNotReady, "nobody waited for it");
    *milliseconds = static_cast<float>(static_cast<double>(last->time_ns - first->time_ns) * 1e-6);
    return cudaSuccess;
  });
}

}  // extern "C"
