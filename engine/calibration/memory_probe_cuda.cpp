// SPDX-License-Identifier: GPL-3.0-or-later
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "calibration/memory_probe.h"
#include "calibration/read_memory.h"
#include "cuda/device_wait.h"

namespace draftscope::engine {

namespace {

constexpr std::size_t load_bytes = 16;

Result<void> check(cudaError_t error, std::string_view doing) {
  if (error != cudaSuccess) return fail("memory probe: {}: {}", doing, cudaGetErrorString(error));
  return {};
}

class CudaMemoryProbe final : public MemoryProbe {
 public:
  CudaMemoryProbe(std::size_t pool_bytes, std::size_t part_bytes) : bytes_(pool_bytes), part_(part_bytes) {}
  CudaMemoryProbe(const CudaMemoryProbe&) = delete;
  CudaMemoryProbe& operator=(const CudaMemoryProbe&) = delete;
  ~CudaMemoryProbe() override {
    if (is_silent_) return;  // Each of these calls would wait for the device.
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (start_ != nullptr) (void)cudaEventDestroy(start_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    (void)cudaFree(sink_);
    (void)cudaFree(pool_);
  }

  Result<void> prepare() {
    int device = 0;
    cudaDeviceProp properties{};
    DRAFTSCOPE_TRY(check(cudaGetDevice(&device), "finding the device"));
    DRAFTSCOPE_TRY(check(cudaGetDeviceProperties(&properties, device), "asking the device what it is"));
    multiprocessors_ = properties.multiProcessorCount;
    DRAFTSCOPE_TRY(check(cudaMalloc(&pool_, bytes_), fmt::format("allocating {} bytes", bytes_)));
    DRAFTSCOPE_TRY(check(cudaMalloc(&sink_, sizeof(unsigned)), "allocating 4 bytes"));
    DRAFTSCOPE_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&start_), "creating an event"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&end_), "creating an event"));
    return check(fill_memory(pool_, bytes_, stream_), "filling memory");
  }

  Result<double> gb_per_s() override {
    const std::size_t parts = bytes_ / part_;
    // Launches during this read wait on the stream, so that the host's launching is not measured.
    DRAFTSCOPE_TRY(read(0, bytes_));
    DRAFTSCOPE_TRY(check(cudaEventRecord(start_, stream_), "recording an event"));
    for (std::size_t i = 0; i < parts; ++i) DRAFTSCOPE_TRY(read(i * part_, part_));
    DRAFTSCOPE_TRY(check(cudaEventRecord(end_, stream_), "recording an event"));
    const cudaError_t answer = cuda::wait_for(stream_);
    is_silent_ = answer == cudaErrorNotReady;
    if (is_silent_)
      return fail("memory probe: reading memory: found no answer of the device within {} s, expected one",
                  cuda::max_wait_s());
    DRAFTSCOPE_TRY(check(answer, "waiting for the device"));
    float milliseconds = 0.0F;
    DRAFTSCOPE_TRY(check(cudaEventElapsedTime(&milliseconds, start_, end_), "reading events"));
    return static_cast<double>(parts * part_) / (static_cast<double>(milliseconds) * 1e6);
  }

 private:
  Result<void> read(std::size_t from, std::size_t bytes) {
    return check(read_memory(static_cast<const std::byte*>(pool_) + from, bytes,
                             static_cast<unsigned*>(sink_), multiprocessors_, stream_),
                 "reading memory");
  }

  std::size_t bytes_, part_;
  void* pool_ = nullptr;
  void* sink_ = nullptr;
  int multiprocessors_ = 0;
  bool is_silent_ = false;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<MemoryProbe>> make_cuda_memory_probe(std::size_t pool_bytes, std::size_t part_bytes) {
  const std::size_t part = std::min(part_bytes, pool_bytes) / load_bytes * load_bytes;
  if (part == 0)
    return fail("memory probe: parts have {} bytes, expected at least {}", std::min(part_bytes, pool_bytes),
                load_bytes);
  auto probe = std::make_unique<CudaMemoryProbe>(pool_bytes, part);
  DRAFTSCOPE_TRY(probe->prepare());
  return probe;
}

}  // namespace draftscope::engine
