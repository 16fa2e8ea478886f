// SPDX-License-Identifier: GPL-3.0-or-later
// Registration and launches of kernels.

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <utility>

#include "activity.h"
#include "kernel_registry.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;
using draftscope::engine::cuda::Kernel;

namespace {

constexpr std::size_t shared_bytes_without_asking = std::size_t{48} * 1024;

std::size_t shared_bytes_of_device() {
  return state().gpu->describe().shared_bytes;
}

/// All blocks of a program must be resident; blocks of other kernels need not be.
cudaError_t check_is_together(State& s, const cudaLaunchConfig_t& config, const RegisteredKernel& kernel) {
  bool is_cooperative = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeCooperative)
      return s.refuse(cudaErrorInvalidValue,
                      fmt::format("launch attribute {}, expected that of cooperative launches",
                                  static_cast<int>(config.attrs[i].id)));
    is_cooperative = config.attrs[i].val.cooperative != 0;
  }
  const bool is_program = kernel.launch.kernel == Kernel::program;
  if (is_program != is_cooperative)
    return s.refuse(cudaErrorInvalidValue, is_program ? "a program that is not launched cooperatively"
                                                      : "a cooperative launch of what is no program");
  const int multiprocessors = s.gpu->describe().multiprocessors;
  if (is_cooperative && config.gridDim.x > static_cast<unsigned>(multiprocessors))
    return s.refuse(cudaErrorCooperativeLaunchTooLarge,
                    fmt::format("{} blocks, expected at most {}, one a multiprocessor", config.gridDim.x,
                                multiprocessors));
  return cudaSuccess;
}

cudaError_t check_launch(State& s, const cudaLaunchConfig_t& config, const void* function,
                         const RegisteredKernel& kernel) {
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
  return check_is_together(s, config, kernel);
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
// nvcc's own stubs for <<<>>> call these functions, but the engine never launches its kernels that way.
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
  return call("cudaFuncSetAttribute", false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    const RegisteredKernel* const kernel = find_kernel(function);
    if (kernel == nullptr || !kernel->is_known)
      return s.refuse(cudaErrorInvalidDeviceFunction, "a function that is no kernel of the engine");
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
  return call("cudaFuncGetAttributes", false, [&](State& s) {
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
  return call("cudaLaunchKernelExC", false, [&](State& s) {
    if (const cudaError_t error = s.prepare(); error != cudaSuccess) return error;
    auto* const stream = reinterpret_cast<Stream*>(config->stream);
    if (!s.streams.contains(stream))
      return s.refuse(cudaErrorInvalidResourceHandle, "a stream that is not there");
    const RegisteredKernel* const kernel = find_kernel(function);
    // Nobody reads the results of the memory probe's kernels, and their time means nothing here.
    if (kernel != nullptr && (kernel->symbol.find("read_all") != std::string::npos ||
                              kernel->symbol.find("fill_all") != std::string::npos))
      return cudaSuccess;
    if (kernel == nullptr || !kernel->is_known)
      return s.refuse(cudaErrorInvalidDeviceFunction, "a function that is no kernel of the engine");
    if (const cudaError_t error = check_launch(s, *config, function, *kernel); error != cudaSuccess)
      return error;
    Operation operation;
    operation.work = Work::kernel;
    operation.launch = kernel->launch;
    operation.launch.blocks = static_cast<int>(config->gridDim.x);
    operation.launch.shared_bytes = config->dynamicSmemBytes;
    operation.params = params_of(*kernel, arguments[0]);
    operation.symbol = kernel->symbol.c_str();
    operation.threads = kernel->threads;
    operation.correlation = activity::called(activity::Call::launch);
    stream->queue.push_back(std::move(operation));
    return cudaSuccess;
  });
}

}  // extern "C"
