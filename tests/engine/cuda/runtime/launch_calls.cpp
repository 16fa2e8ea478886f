// SPDX-License-Identifier: GPL-3.0-or-later
// Registration and launches of kernels.

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <utility>

#include "activity.h"
#include "kernel_registry.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;

namespace {

constexpr std::size_t shared_bytes_without_asking = std::size_t{48} * 1024;

std::size_t shared_bytes_of_device() {
  return state().gpu->describe().shared_bytes;
}

/// Whether the launch asks for an early start; fails on any other attribute.
cudaError_t read_attributes(State& s, const cudaLaunchConfig_t& config, bool& starts_early) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeProgrammaticStreamSerialization)
      return s.refuse(cudaErrorInvalidValue, fmt::format("launch attribute {}, expected that of early starts",
                                                         static_cast<int>(config.attrs[i].id)));
    starts_early = config.attrs[i].val.programmaticStreamSerializationAllowed != 0;
  }
  return cudaSuccess;
}

cudaError_t check_launch(State& s, const cudaLaunchConfig_t& config, const void* function,
                         const RegisteredKernel& kernel, const Stream& stream) {
  const unsigned threads = config.blockDim.x * config.blockDim.y * config.blockDim.z;
  if (config.gridDim.x == 0 || config.gridDim.y != 1 || config.gridDim.z != 1 ||
      threads != static_cast<unsigned>(kernel.threads))
    return s.refuse(cudaErrorInvalidConfiguration, fmt::format("{} blocks of {} threads, expected some of {}",
                                                               config.gridDim.x, threads, kernel.threads));
  const auto asked = s.shared_bytes_allowed.find(function);
  const std::size_t allowed =
      asked == s.shared_bytes_allowed.end() ? shared_bytes_without_asking : asked->second;
  if (config.dynamicSmemBytes > allowed)
    return s.refuse(cudaErrorInvalidValue,
                    fmt::format("{} bytes of shared memory, expected at most {}, which were asked for",
                                config.dynamicSmemBytes, allowed));
  bool starts_early = false;
  if (const cudaError_t error = read_attributes(s, config, starts_early); error != cudaSuccess) return error;
  if (starts_early && !waits_by_itself(kernel.launch.kernel))
    return s.refuse(cudaErrorInvalidValue, "an early start of a kernel that does not wait by itself");
  // Nobody says what a driver makes of it.
  const Graph* const captured = stream.captured;
  if (starts_early && captured != nullptr && !captured->operations.empty() &&
      captured->operations.back().work == Work::loop)
    return s.refuse(cudaErrorInvalidValue, "an early start behind a loop, expected one behind a kernel");
  return cudaSuccess;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* /*code*/) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}
void __cudaRegisterFunction(void** /*handle*/, const char* host_function, char* /*device_function*/,
                            const char* device_name, int /*max_threads*/, uint3* /*thread*/, uint3* /*block*/,
                            dim3* /*block_extent*/, dim3* /*grid_extent*/, int* /*warp_size*/) {
  register_kernel(host_function, device_name);
}
// What nvcc's own stubs for <<<>>> call, which the engine's kernels are never launched by.
cudaError_t __cudaGetKernel(cudaKernel_t* /*kernel*/, const void* /*function*/) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t /*kernel*/, dim3 /*blocks*/, dim3 /*threads*/,
                               void** /*arguments*/, std::size_t /*shared_bytes*/, cudaStream_t /*stream*/) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaPopCallConfiguration(dim3* /*blocks*/, dim3* /*threads*/, std::size_t* /*shared_bytes*/,
                                       void* /*stream*/) {
  return cudaErrorNotSupported;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", InCapture::allowed, false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    const RegisteredKernel* const kernel = find_kernel(function);
    if (kernel == nullptr || !kernel->is_known)
      return s.refuse(cudaErrorInvalidDeviceFunction, "a function that is no kernel of the engine");
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout && value >= -1 && value <= 100)
      return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) > shared_bytes_of_device())
      return s.refuse(cudaErrorInvalidValue,
                      fmt::format("attribute {} of {}, expected shared memory of at most {} bytes",
                                  static_cast<int>(attribute), value, shared_bytes_of_device()));
    s.shared_bytes_allowed[function] = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", InCapture::allowed, false, [&](State& s) {
    const RegisteredKernel* const kernel = find_kernel(function);
    if (kernel == nullptr || !kernel->is_known)
      return s.refuse(cudaErrorInvalidDeviceFunction, "a function that is no kernel of the engine");
    *attributes = {};
    attributes->maxThreadsPerBlock = kernel->threads;
    attributes->ptxVersion = attributes->binaryVersion = s.settings.major * 10;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return call("cudaLaunchKernelExC", InCapture::allowed, false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    auto* const stream = reinterpret_cast<Stream*>(config->stream);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    const RegisteredKernel* const kernel = find_kernel(function);
    // The memory probe's kernel leaves nothing behind, and its time means nothing here.
    if (kernel != nullptr && kernel->symbol.find("read_all") != std::string::npos) return cudaSuccess;
    if (kernel == nullptr || !kernel->is_known)
      return s.refuse(cudaErrorInvalidDeviceFunction, "a function that is no kernel of the engine");
    if (const cudaError_t error = check_launch(s, *config, function, *kernel, *stream); error != cudaSuccess)
      return error;
    Operation operation;
    operation.work = Work::kernel;
    operation.launch = kernel->launch;
    operation.launch.blocks = static_cast<int>(config->gridDim.x);
    operation.launch.shared_bytes = config->dynamicSmemBytes;
    operation.params = params_of(*kernel, arguments[0]);
    operation.symbol = kernel->symbol.c_str();
    operation.threads = kernel->threads;
    if (stream->captured == nullptr) operation.correlation = activity::called(activity::Call::launch);
    s.enqueue(*stream, std::move(operation));
    return cudaSuccess;
  });
}

}  // extern "C"
