// SPDX-License-Identifier: GPL-3.0-or-later
// A Gpu on a real device: the CUDA runtime, one stream, cuBLAS.

#include <cuda_runtime.h>
#include <draftscope/engine/cuda_backend.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "backend.h"
#include "cublas.h"
#include "device_wait.h"
#include "gpu.h"
#include "launch_kernel.h"

namespace draftscope::engine::cuda {

namespace {

constexpr std::size_t staging_bytes = std::size_t{32} << 20;
constexpr std::size_t blas_bytes = std::size_t{32} << 20;  // cuBLAS's own size on compute capability 9.0.
/// Names of the work at which a device may never answer, by Kernel.
constexpr std::array<std::string_view, kernel_count> kernel_names{
    "a program of a pass",  "packing weights",    "unpacking weights",      "attention of a prefill",
    "queries of a prefill", "gates of a prefill", "additions of a prefill", "choosing tokens",
    "moving cache rows",    "moving states",      "comparing states"};
constexpr int needed_major = 8;
constexpr int needed_cuda = CUDART_VERSION / 1000;

Result<void> check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  return fail("cuda backend: {}: {}", what, cudaGetErrorString(status));
}

/// The runtime works with drivers of its own major version and later ones.
Result<void> check_driver() {
  int driver = 0;
  DRAFTSCOPE_TRY(check(cudaDriverGetVersion(&driver), "asking for the driver's version"));
  if (driver == 0) return fail("cuda backend: found no NVIDIA driver, expected one for CUDA {}", needed_cuda);
  if (driver / 1000 >= needed_cuda) return {};
  return fail("cuda backend: the NVIDIA driver is for CUDA {}.{}, expected one for {}.0 or later",
              driver / 1000, driver % 1000 / 10, needed_cuda);
}

/// Number of devices, above 0. Fails with one line if there is none that the driver can use.
Result<int> device_count() {
  DRAFTSCOPE_TRY(check_driver());
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) return fail("cuda backend: no CUDA device: {}", cudaGetErrorString(found));
  return count;
}

/// Page-locked host memory that copies pass through, so that they do not wait for each other.
struct Staging {
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  std::size_t used = 0;
};

/// One half of the staging memory for uploads.
struct Half {
  cudaEvent_t copied = nullptr;
  bool is_in_use = false;
};

class CudaGpu final : public Gpu {
 public:
  CudaGpu() = default;

  ~CudaGpu() override {
    // Errors have been reported where they occurred; a destructor has no caller to report to.
    (void)cudaSetDevice(device_);
    if (stream_ != nullptr && !is_silent_) is_silent_ = wait_for(stream_) == cudaErrorNotReady;
    if (is_silent_)
      return;  // Each of the calls below would wait for the device. The process is about to end.
    if (blas_ != nullptr) (void)cublas_.destroy(blas_);
    if (blas_memory_ != nullptr) (void)cudaFree(blas_memory_);
    for (const Staging* staging : {&up_, &down_})
      if (staging->data != nullptr) (void)cudaFreeHost(staging->data);
    for (const Half& half : up_halves_)
      if (half.copied != nullptr) (void)cudaEventDestroy(half.copied);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }

  /// Fails with one line if the driver is too old, the device does not exist, it is older than compute
  /// capability 8.0, or this build has no code for it.
  Result<void> open(std::int32_t device) {
    DRAFTSCOPE_TRY_ASSIGN(const int count, device_count());
    if (device < 0 || device >= count)
      return fail("cuda backend: device is {}, expected 0 to {}", device, count - 1);
    device_ = device;
    DRAFTSCOPE_TRY(check(cudaSetDevice(device), "choosing the device"));
    cudaDeviceProp properties{};
    DRAFTSCOPE_TRY(check(cudaGetDeviceProperties(&properties, device), "reading the device's properties"));
    if (properties.major < needed_major)
      return fail("cuda backend: {} has compute capability {}.{}, expected at least {}.0", properties.name,
                  properties.major, properties.minor, needed_major);
    if (const cudaError_t code = ask_for_code(); code != cudaSuccess)
      return fail(
          "cuda backend: {} has compute capability {}.{}, expected one that this build has kernels for "
          "(CMake's DRAFTSCOPE_CUDA_ARCHITECTURES): {}",
          properties.name, properties.major, properties.minor, cudaGetErrorString(code));
    description_.name = properties.name;
    description_.architecture = fmt::format("sm{}{}", properties.major, properties.minor);
    description_.multiprocessors = properties.multiProcessorCount;
    description_.shared_bytes = properties.sharedMemPerBlockOptin;
    DRAFTSCOPE_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"));
    DRAFTSCOPE_TRY_ASSIGN(cublas_, load_cublas());
    DRAFTSCOPE_TRY(check_blas(cublas_.create(&blas_), "starting cuBLAS"));
    DRAFTSCOPE_TRY(check_blas(cublas_.set_stream(blas_, stream_), "giving cuBLAS its stream"));
    // Otherwise cuBLAS would allocate its workspace at the first product, after free memory was measured.
    DRAFTSCOPE_TRY(check(cudaMalloc(&blas_memory_, blas_bytes), "memory for cuBLAS"));
    DRAFTSCOPE_TRY(
        check_blas(cublas_.set_workspace(blas_, blas_memory_, blas_bytes), "giving cuBLAS its memory"));
    DRAFTSCOPE_TRY(grow(up_, staging_bytes));
    for (Half& half : up_halves_)
      DRAFTSCOPE_TRY(
          check(cudaEventCreateWithFlags(&half.copied, cudaEventDisableTiming), "creating an event"));
    return grow(down_, staging_bytes);
  }

  GpuDescription describe() const override { return description_; }
  Result<std::size_t> free_bytes() const override {
    DRAFTSCOPE_TRY(choose_device());
    std::size_t free = 0;
    std::size_t total = 0;
    DRAFTSCOPE_TRY(check(cudaMemGetInfo(&free, &total), "asking for free memory"));
    return free;
  }

  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    DRAFTSCOPE_TRY(choose_device());
    void* memory = nullptr;
    DRAFTSCOPE_TRY(check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)),
                         fmt::format("{} bytes for {}", bytes, what)));
    return memory;
  }
  // cudaFree waits for the device. An error that it finds is also returned by the next call.
  void release(void* memory) override {
    if (!is_silent_) (void)cudaFree(memory);
  }

  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    DRAFTSCOPE_TRY(choose_device());
    const auto* source = static_cast<const std::byte*>(from);
    auto* target = static_cast<std::byte*>(to);
    const std::size_t half_bytes = up_.capacity / std::size(up_halves_);
    while (bytes > 0) {
      if (up_.used == up_.capacity) up_.used = 0;
      Half& half = up_halves_[up_.used / half_bytes];
      if (up_.used % half_bytes == 0) DRAFTSCOPE_TRY(wait_until_free(half));
      const std::size_t part = std::min(bytes, half_bytes - up_.used % half_bytes);
      std::memcpy(up_.data + up_.used, source, part);
      DRAFTSCOPE_TRY(
          check(cudaMemcpyAsync(target, up_.data + up_.used, part, cudaMemcpyHostToDevice, stream_),
                "copying to the device"));
      up_.used += part;
      if (up_.used % half_bytes == 0) {
        DRAFTSCOPE_TRY(check(cudaEventRecord(half.copied, stream_), "recording an event"));
        half.is_in_use = true;
      }
      source += part;
      target += part;
      bytes -= part;
    }
    return {};
  }

  Result<void> download_rows(void* to, const void* from, const DeviceRows& rows) override {
    const std::size_t bytes = rows.bytes * rows.count;
    if (bytes == 0) return {};
    DRAFTSCOPE_TRY(choose_device());
    if (down_.used + bytes > down_.capacity) {
      DRAFTSCOPE_TRY(synchronise());
      if (bytes > down_.capacity) DRAFTSCOPE_TRY(grow(down_, bytes));
    }
    std::byte* place = down_.data + down_.used;
    const cudaError_t copied = rows.count == 1
                                   ? cudaMemcpyAsync(place, from, bytes, cudaMemcpyDeviceToHost, stream_)
                                   : cudaMemcpy2DAsync(place, rows.bytes, from, rows.stride, rows.bytes,
                                                       rows.count, cudaMemcpyDeviceToHost, stream_);
    DRAFTSCOPE_TRY(check(copied, "copying from the device"));
    downloads_.push_back({to, place, bytes});
    constexpr std::size_t alignment = 64;
    down_.used = std::min(down_.capacity, (down_.used + bytes + alignment - 1) / alignment * alignment);
    return {};
  }

  Result<void> clear(void* memory, std::size_t bytes) override {
    DRAFTSCOPE_TRY(choose_device());
    return check(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
  }

  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    DRAFTSCOPE_TRY(choose_device());
    last_work_ = kernel_names[static_cast<std::size_t>(launch.kernel)];
    return check(launch_kernel(launch, params, stream_), "launching a kernel");
  }

  Result<void> multiply(const WideProduct& product) override {
    DRAFTSCOPE_TRY(choose_device());
    last_work_ = "a wide product";
    const float one = 1.0F;
    const float zero = 0.0F;
    const cudaDataType_t type = product.format == KernelFormat::f16 ? CUDA_R_16F : CUDA_R_16BF;
    // cuBLAS is column-major, so out[rows][outputs] is its (outputs × rows) matrix.
    return check_blas(
        cublas_.multiply(blas_, CUBLAS_OP_T, CUBLAS_OP_N, product.outputs, product.rows, product.depth, &one,
                         product.weights, type, product.depth, product.x, type, product.depth, &zero,
                         product.out, CUDA_R_32F, product.outputs, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "a wide product");
  }

  Result<void> synchronise() override {
    Result<void> waited = drain();
    if (waited)
      for (const Download& download : downloads_) std::memcpy(download.to, download.from, download.bytes);
    // They are dropped after an error, too: their targets may be gone by the next call.
    downloads_.clear();
    down_.used = 0;
    return waited;
  }

 private:
  struct Download {
    void* to;
    const std::byte* from;
    std::size_t bytes;
  };

  Result<void> check_blas(cublasStatus_t status, std::string_view what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return {};
    return fail("cuda backend: {}: {}", what, cublas_.status_string(status));
  }

  Result<void> check_answer(cudaError_t status) {
    if (status != cudaErrorNotReady) return check(status, "waiting for the device");
    is_silent_ = true;
    return silence();
  }

  [[nodiscard]] Result<void> silence() const {
    return fail(
        "cuda backend: {}: found no answer of the device within {} s, expected one "
        "(DRAFTSCOPE_DEVICE_WAIT_S)",
        last_work_, max_wait_s());
  }

  /// The runtime's current device is per thread, and another backend may have chosen another one. A device
  /// that did not answer gets no further work, since calls might wait for it without end.
  Result<void> choose_device() const {
    if (is_silent_) return silence();
    int current = -1;
    DRAFTSCOPE_TRY(check(cudaGetDevice(&current), "asking for the device"));
    return current == device_ ? Result<void>() : check(cudaSetDevice(device_), "choosing the device");
  }

  /// Waits until the device has finished all queued work and no longer reads the upload staging.
  Result<void> drain() {
    DRAFTSCOPE_TRY(choose_device());
    DRAFTSCOPE_TRY(check_answer(wait_for(stream_)));
    up_.used = 0;
    for (Half& half : up_halves_) half.is_in_use = false;
    return {};
  }

  /// Waits for the copy from this half, so that the host can fill one half while the device copies the other.
  Result<void> wait_until_free(Half& half) {
    if (!half.is_in_use) return {};
    half.is_in_use = false;
    return check_answer(wait_for(half.copied));
  }

  static Result<void> grow(Staging& staging, std::size_t bytes) {
    if (void* const old = std::exchange(staging, {}).data; old != nullptr)
      DRAFTSCOPE_TRY(check(cudaFreeHost(old), "freeing host memory"));
    void* memory = nullptr;
    DRAFTSCOPE_TRY(check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault),
                         fmt::format("{} bytes of page-locked memory", bytes)));
    staging = {static_cast<std::byte*>(memory), bytes, 0};
    return {};
  }

  std::int32_t device_ = 0;
  GpuDescription description_;
  cudaStream_t stream_ = nullptr;
  Cublas cublas_;
  cublasHandle_t blas_ = nullptr;
  void* blas_memory_ = nullptr;
  Staging up_;
  Half up_halves_[2];
  Staging down_;
  std::vector<Download> downloads_;
  std::string_view last_work_ = "copying weights";
  bool is_silent_ = false;
};

}  // namespace

}  // namespace draftscope::engine::cuda

namespace draftscope::engine {

Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& checkpoint, const CudaOptions& options) {
  auto gpu = std::make_unique<cuda::CudaGpu>();
  DRAFTSCOPE_TRY(gpu->open(options.device));
  return cuda::make_backend(std::move(gpu), checkpoint, options);
}

Result<std::vector<std::string>> cuda_device_names() {
  DRAFTSCOPE_TRY_ASSIGN(const int count, cuda::device_count());
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    DRAFTSCOPE_TRY(
        cuda::check(cudaGetDeviceProperties(&properties, device), "reading the device's properties"));
    names.emplace_back(properties.name);
  }
  return names;
}

}  // namespace draftscope::engine
