// SPDX-License-Identifier: GPL-3.0-or-later
// Streams and events.

#include <cuda_runtime.h>

#include <utility>

#include "activity.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned /*flags*/) {
  return call("cudaStreamCreateWithFlags", false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    *handle = reinterpret_cast<cudaStream_t>(*s.streams.insert(new Stream).first);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call("cudaStreamDestroy", true,
              [&](State& s) { return destroy(s, s.streams, handle, "a stream that is not there"); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call("cudaStreamSynchronize", false, [&](State& s) {
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

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call("cudaStreamQuery", false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(handle);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    return s.query(*stream);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call("cudaEventQuery", false, [&](State& s) {
    auto* const event = reinterpret_cast<Event*>(handle);
    if (!s.events.contains(event))
      return s.refuse(cudaErrorInvalidResourceHandle, "an event that is not there");
    for (Stream* const stream : s.streams)
      if (const cudaError_t error = s.query(*stream, event); error != cudaSuccess) return error;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", false, [&](State& s) {
    *event = reinterpret_cast<cudaEvent_t>(*s.events.insert(new Event).first);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return call("cudaEventCreateWithFlags", false, [&](State& s) {
    *event = reinterpret_cast<cudaEvent_t>(*s.events.insert(new Event).first);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call("cudaEventSynchronize", false, [&](State& s) {
    auto* const event = reinterpret_cast<Event*>(handle);
    if (!s.events.contains(event))
      return s.refuse(cudaErrorInvalidResourceHandle, "an event that is not there");
    for (Stream* const stream : s.streams)
      if (const cudaError_t error = s.drain(*stream, event); error != cudaSuccess) return error;
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", true, [&](State& s) {
    for (Stream* const stream : s.streams)
      std::erase_if(stream->queue, [&](const Operation& operation) {
        return operation.work == Work::event && operation.event == reinterpret_cast<Event*>(event);
      });
    return destroy(s, s.events, event, "an event that is not there");
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  return call("cudaEventRecord", false, [&](State& s) {
    auto* const event = reinterpret_cast<Event*>(handle);
    auto* const stream = reinterpret_cast<Stream*>(stream_handle);
    if (!s.events.contains(event) || !s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "an event or a stream that is not there");
    Operation operation;
    operation.work = Work::event;
    operation.event = event;
    stream->queue.push_back(std::move(operation));
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", false, [&](State& s) {
    const auto* const first = reinterpret_cast<Event*>(from);
    const auto* const last = reinterpret_cast<Event*>(to);
    if (!first->is_recorded || !last->is_recorded) return s.refuse(cudaErrorNotReady, "nobody waited for it");
    *milliseconds = static_cast<float>(static_cast<double>(last->time_ns - first->time_ns) * 1e-6);
    return cudaSuccess;
  });
}

}  // extern "C"
