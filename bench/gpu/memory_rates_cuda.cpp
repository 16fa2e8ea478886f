// SPDX-License-Identifier: GPL-3.0-or-later
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string_view>

#include "calibration/read_memory.h"
#include "fill_memory.h"
#include "memory_rates.h"

namespace draftscope::bench {

namespace {

constexpr std::size_t load_bytes = 16;

Result<void> check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  return fail("{}: {}", what, cudaGetErrorString(status));
}

class CudaMemoryRates final : public MemoryRates {
 public:
  explicit CudaMemoryRates(std::size_t bytes) : bytes_(bytes) {}
  CudaMemoryRates(const CudaMemoryRates&) = delete;
  CudaMemoryRates& operator=(const CudaMemoryRates&) = delete;
  ~CudaMemoryRates() override {
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (start_ != nullptr) (void)cudaEventDestroy(start_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    (void)cudaFree(sink_);
    (void)cudaFree(pool_);
  }

  Result<void> prepare() {
    int count = 0;
    DRAFTSCOPE_TRY(check(cudaGetDeviceCount(&count), "no CUDA device"));
    if (count == 0) return fail("no CUDA device: found 0, expected at least 1");
    DRAFTSCOPE_TRY(check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0),
                         "reading the device's properties"));
    DRAFTSCOPE_TRY(check(cudaMalloc(&pool_, bytes_), fmt::format("{} bytes of device memory", bytes_)));
    DRAFTSCOPE_TRY(check(cudaMalloc(&sink_, sizeof(unsigned)), "4 bytes of device memory"));
    DRAFTSCOPE_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&start_), "creating an event"));
    DRAFTSCOPE_TRY(check(cudaEventCreate(&end_), "creating an event"));
    DRAFTSCOPE_TRY(check(launch_fill(pool_, bytes_, 1, stream_), "filling memory"));
    return check(cudaStreamSynchronize(stream_), "filling memory");
  }

  Result<std::vector<double>> read(std::size_t bytes, int repeats) override {
    const std::size_t part = std::min(bytes / load_bytes * load_bytes, bytes_);
    if (part == 0) return fail("bytes is {}, expected at least {}", bytes, load_bytes);
    const std::size_t parts = bytes_ / part;
    std::vector<double> rates;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      // What is launched while this runs waits on the stream: the host's launching is not measured.
      DRAFTSCOPE_TRY(read_part(0, bytes_));
      DRAFTSCOPE_TRY(check(cudaEventRecord(start_, stream_), "recording an event"));
      for (std::size_t i = 0; i < parts; ++i) DRAFTSCOPE_TRY(read_part(i * part, part));
      DRAFTSCOPE_TRY(check(cudaEventRecord(end_, stream_), "recording an event"));
      DRAFTSCOPE_TRY(check(cudaStreamSynchronize(stream_), "waiting for the device"));
      float milliseconds = 0.0F;
      DRAFTSCOPE_TRY(check(cudaEventElapsedTime(&milliseconds, start_, end_), "reading events"));
      rates.push_back(static_cast<double>(parts * part) / (static_cast<double>(milliseconds) * 1e-3));
    }
    return rates;
  }

 private:
  Result<void> read_part(std::size_t from, std::size_t bytes) {
    return check(engine::read_memory(static_cast<const std::byte*>(pool_) + from, bytes,
                                     static_cast<unsigned*>(sink_), multiprocessors_, stream_),
                 "reading memory");
  }

  std::size_t bytes_;
  void* pool_ = nullptr;
  void* sink_ = nullptr;
  int multiprocessors_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<MemoryRates>> make_memory_rates(std::size_t pool_bytes) {
  auto rates = std::make_unique<CudaMemoryRates>(pool_bytes);
  DRAFTSCOPE_TRY(rates->prepare());
  return rates;
}

}  // namespace draftscope::bench
