// SPDX-License-Identifier: GPL-3.0-or-later
// Device memory, page-locked memory, copies.

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "activity.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

constexpr int unread = 0xa5;  // Fills the target of a copy to the host until the copy was waited for.

bool overlaps(const Operation& operation, const std::byte* begin, std::size_t bytes) {
  const auto touches = [&](const void* at) {
    const auto* const place = static_cast<const std::byte*>(at);
    return place >= begin && place < begin + bytes;
  };
  return touches(operation.from) || touches(operation.to);
}

cudaError_t check_copy(State& s, Work work, const void* to, const void* from, std::size_t bytes) {
  const auto on = [&](const auto& blocks, const void* at, const char* what) {
    if (holds(blocks, at, bytes)) return cudaSuccess;
    return s.refuse(cudaErrorInvalidValue, fmt::format("a copy of {} bytes {}", bytes, what));
  };
  if (const cudaError_t error = work == Work::download
                                    ? on(s.host_blocks, to, "to host memory that is not page-locked")
                                    : on(s.device_blocks, to, "to beyond device memory");
      error != cudaSuccess)
    return error;
  return work == Work::upload ? on(s.host_blocks, from, "from host memory that is not page-locked")
                              : on(s.device_blocks, from, "from beyond device memory");
}

/// Puts a copy into a stream's queue.
cudaError_t enqueue_copy(State& s, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t stream_handle) {
  auto* const stream = reinterpret_cast<Stream*>(stream_handle);
  if (!s.streams.contains(stream))
    return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
  if (bytes == 0) return cudaSuccess;
  Operation operation;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      operation.work = Work::upload;
      break;
    case cudaMemcpyDeviceToHost:
      operation.work = Work::download;
      break;
    default:
      return s.refuse(cudaErrorInvalidValue, "a direction of copying that the engine has no use for");
  }
  if (const cudaError_t error = check_copy(s, operation.work, to, from, bytes); error != cudaSuccess)
    return error;
  operation.to = to;
  operation.from = from;
  operation.bytes = bytes;
  if (operation.work == Work::upload) operation.digest = digest_of(from, bytes);
  if (operation.work == Work::download) std::memset(to, unread, bytes);
  operation.correlation = activity::called(activity::Call::copy);
  stream->queue.push_back(std::move(operation));
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call("cudaMalloc", false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    const auto allocated = s.gpu->allocate(bytes, "device memory");
    if (!allocated) return s.refuse(cudaErrorMemoryAllocation, allocated.error().message);
    *memory = *allocated;
    s.device_blocks[static_cast<const std::byte*>(*memory)] = bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* memory) {
  return call("cudaFree", true, [&](State& s) {
    if (memory == nullptr) return cudaSuccess;
    const auto found = s.device_blocks.find(static_cast<const std::byte*>(memory));
    if (found == s.device_blocks.end())
      return s.refuse(cudaErrorInvalidValue, "memory that was not allocated");
    // It waits for the device first and returns the errors that it finds.
    const cudaError_t error = s.drain_all();
    s.gpu->release(memory);
    s.device_blocks.erase(found);
    return error;
  });
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return call("cudaHostAlloc", false, [&](State& s) {
    *memory = std::malloc(bytes);
    if (*memory == nullptr) return cudaErrorMemoryAllocation;
    s.host_blocks[static_cast<const std::byte*>(*memory)] = bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return call("cudaFreeHost", true, [&](State& s) {
    if (memory == nullptr) return cudaSuccess;
    const auto found = s.host_blocks.find(static_cast<const std::byte*>(memory));
    if (found == s.host_blocks.end()) return s.refuse(cudaErrorInvalidValue, "memory that was not allocated");
    cudaError_t error = cudaSuccess;
    for (Stream* const stream : s.streams)
      for (const Operation& operation : stream->queue)
        if (overlaps(operation, found->first, found->second))
          error = s.refuse(cudaErrorInvalidValue, "host memory that a copy still uses");
    // The copies must not touch it any more.
    if (error != cudaSuccess)
      for (Stream* const stream : s.streams) stream->queue.clear();
    std::free(memory);
    s.host_blocks.erase(found);
    return error;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    const auto bytes = s.gpu->free_bytes();
    if (!bytes) return s.refuse(cudaErrorUnknown, bytes.error().message);
    *free = *bytes;
    *total = s.settings.memory_bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream_handle) {
  return call("cudaMemcpyAsync", false,
              [&](State& s) { return enqueue_copy(s, to, from, bytes, kind, stream_handle); });
}

/// There is one copy per row, in order; the state of the rows in between is undefined anyway.
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                              std::size_t bytes, std::size_t rows, cudaMemcpyKind kind,
                              cudaStream_t stream_handle) {
  return call("cudaMemcpy2DAsync", false, [&](State& s) {
    if (bytes > to_stride || bytes > from_stride)
      return s.refuse(cudaErrorInvalidPitchValue, "rows that overlap");
    for (std::size_t row = 0; row < rows; ++row) {
      const cudaError_t error =
          enqueue_copy(s, static_cast<std::byte*>(to) + row * to_stride,
                       static_cast<const std::byte*>(from) + row * from_stride, bytes, kind, stream_handle);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream_handle) {
  return call("cudaMemsetAsync", false, [&](State& s) {
    auto* const stream = reinterpret_cast<Stream*>(stream_handle);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    if (!holds(s.device_blocks, memory, bytes))
      return s.refuse(cudaErrorInvalidValue, fmt::format("setting {} bytes beyond device memory", bytes));
    if (bytes == 0) return cudaSuccess;
    Operation operation;
    operation.work = Work::set;
    operation.to = memory;
    operation.bytes = bytes;
    operation.value = value;
    operation.correlation = activity::called(activity::Call::set);
    stream->queue.push_back(std::move(operation));
    return cudaSuccess;
  });
}

}  // extern "C"
