// SPDX-License-Identifier: GPL-3.0-or-later
#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "calibration/memory_probe.h"
#include "calibration/read_memory.h"

namespace draftscope::engine {

namespace {

constexpr std::size_t bytes = std::size_t{2} << 30;

Result<void> check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) return fail("memory probe: {}: {}", doing, cudaGetErrorString(error));
  return {};
}

class CudaMemoryProbe final : public MemoryProbe {
 public:
  CudaMemoryProbe() = default;
  CudaMemoryProbe(const CudaMemoryProbe&) = delete;
  CudaMemoryProbe& operator=(const CudaMemoryProbe&) = delete;
  ~CudaMemoryProbe() override {
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (start_ != nullptr) (void)cudaEventDestroy(start_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    (void)cudaFree(sink_);
    (void)cudaFree(from_);
  }

  Result<void> prepare() {
    int device = 0;
    cudaDeviceProp properties{};
    DRAFTSCOPE_TRY(check(cudaGetDevice(&device), "finding the device"));
    DRAFTSCOPE_TRY(check(cudaGetDeviceProperties(&properties, device), "asking the device what it is"));
    multiprocessors_ = properties.multiProcessorCount;
    DRAFTSCOPE_TRY(check(cudaMalloc(&from_, bytes), "allocating 2 GiB"));
    DRAFTSCOPE_TRY(check(cudaMalloc(&sink_, sizeof(unsigned)), "allocating 4 bytes"));
    DRAFTSCOPE_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&start_), "creating an event"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&end_), "creating an event"));
    return check(cudaMemsetAsync(from_, 1, bytes, stream_), "filling memory");
  }

  Result<double> gb_per_s() override {
    DRAFTSCOPE_TRY(check(cudaEventRecord(start_, stream_), "recording an event"));
    DRAFTSCOPE_TRY(check(read_memory(from_, bytes, static_cast<unsigned*>(sink_), multiprocessors_, stream_),
                         "reading memory"));
    DRAFTSCOPE_TRY(check(cudaEventRecord(end_, stream_), "recording an event"));
    DRAFTSCOPE_TRY(check(cudaStreamSynchronize(stream_), "waiting for the device"));
    float milliseconds = 0.0F;
    DRAFTSCOPE_TRY(check(cudaEventElapsedTime(&milliseconds, start_, end_), "reading events"));
    return static_cast<double>(bytes) / (static_cast<double>(milliseconds) * 1e6);
  }

 private:
  void* from_ = nullptr;
  void* sink_ = nullptr;
  int multiprocessors_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<MemoryProbe>> make_cuda_memory_probe() {
  auto probe = std::make_unique<CudaMemoryProbe>();
  DRAFTSCOPE_TRY(probe->prepare());
  return probe;
}

}  // namespace draftscope::engine
