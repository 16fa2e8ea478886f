// SPDX-License-Identifier: GPL-3.0-or-later
// Devices, their properties, and error messages.

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

const char* name_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInitializationError:
      return "initialization error";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDeviceFunction:
      return "invalid device function";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorNotSupported:
      return "operation not supported";
    case cudaErrorCooperativeLaunchTooLarge:
      return "too many blocks in cooperative launch";
    default:
      return "unknown error";
  }
}

}  // namespace

extern "C" {

const char* cudaGetErrorString(cudaError_t error) {
  static thread_local std::string text;
  const State& s = state();
  text = s.detail.empty() || error == cudaSuccess
             ? name_of(error)
             : fmt::format("{} (emulated: {})", name_of(error), s.detail);
  return text.c_str();
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;  // Nobody here asks for an error that a call has returned.
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", false, [&](State& s) {
    *count = s.settings.devices;
    return s.settings.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", false, [&](State& s) {
    if (device < 0 || device >= s.settings.devices) return cudaErrorInvalidDevice;
    s.device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", false, [&](State& s) {
    *device = s.device;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", false, [&](State&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", false, [&](State&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", false, [&](State& s) {
    if (device < 0 || device >= s.settings.devices) return cudaErrorInvalidDevice;
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    *properties = {};
    const auto description = s.gpu->describe();
    std::strncpy(properties->name, description.name.c_str(), sizeof properties->name - 1);
    properties->major = s.settings.major;
    properties->multiProcessorCount = description.multiprocessors;
    properties->sharedMemPerBlockOptin = description.shared_bytes;
    properties->sharedMemPerBlock = std::size_t{48} * 1024;
    constexpr std::size_t reserved_shared_bytes = 1024;
    properties->reservedSharedMemPerBlock = reserved_shared_bytes;
    properties->sharedMemPerMultiprocessor = description.shared_bytes + reserved_shared_bytes;
    properties->totalGlobalMem = s.settings.memory_bytes;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    return cudaSuccess;
  });
}

}  // extern "C"
