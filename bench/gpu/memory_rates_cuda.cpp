// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "memory_rates.h"
#include "primitives/cuda_check.h"
#include "primitives/memory_kernels.h"
#include "primitives/replay_timer.h"

namespace draftscope::bench {

namespace {

constexpr std::size_t load_bytes = 16;

class CudaMemoryRates final : public MemoryRates {
 public:
  CudaMemoryRates(ReplayTimer timer, DeviceBuffer from, DeviceBuffer to, DeviceBuffer sink)
      : timer_(std::move(timer)), from_(std::move(from)), to_(std::move(to)), sink_(std::move(sink)) {}

  Result<void> fill() {
    DRAFTSCOPE_TRY(check(launch_fill(from_.data(), from_.bytes(), 1, timer_.stream()), "filling memory"));
    return check(cudaStreamSynchronize(timer_.stream()), "filling memory");
  }

  Result<std::vector<double>> read(std::size_t bytes, int repeats) override {
    return rates(bytes, repeats, 1.0, [&](std::size_t at, std::size_t part, cudaStream_t stream) {
      return launch_read(from_.data() + at, part, reinterpret_cast<unsigned*>(sink_.data()),
                         timer_.device().multiprocessors, stream);
    });
  }

  Result<std::vector<double>> copy(std::size_t bytes, int repeats) override {
    return rates(bytes, repeats, 2.0, [&](std::size_t at, std::size_t part, cudaStream_t stream) {
      return cudaMemcpyAsync(to_.data() + at, from_.data() + at, part, cudaMemcpyDeviceToDevice, stream);
    });
  }

 private:
  template <typename Launch>
  Result<std::vector<double>> rates(std::size_t bytes, int repeats, double times_moved, Launch launch) {
    const std::size_t part = std::min(bytes / load_bytes * load_bytes, from_.bytes());
    if (part == 0) return fail("bytes is {}, expected at least {}", bytes, load_bytes);
    const std::size_t parts = from_.bytes() / part;
    const auto walk = [&](cudaStream_t stream) -> Result<void> {
      for (std::size_t i = 0; i < parts; ++i)
        DRAFTSCOPE_TRY(check(launch(i * part, part, stream), "moving memory"));
      return {};
    };
    DRAFTSCOPE_TRY_ASSIGN(std::vector<double> seconds, timer_.seconds(walk, repeats));
    for (double& value : seconds) value = times_moved * static_cast<double>(parts * part) / value;
    return seconds;
  }

  ReplayTimer timer_;
  DeviceBuffer from_;
  DeviceBuffer to_;
  DeviceBuffer sink_;
};

}  // namespace

Result<std::unique_ptr<MemoryRates>> make_memory_rates(std::size_t pool_bytes) {
  DRAFTSCOPE_TRY_ASSIGN(ReplayTimer timer, ReplayTimer::make());
  DRAFTSCOPE_TRY_ASSIGN(DeviceBuffer from, DeviceBuffer::allocate(pool_bytes));
  DRAFTSCOPE_TRY_ASSIGN(DeviceBuffer to, DeviceBuffer::allocate(pool_bytes));
  DRAFTSCOPE_TRY_ASSIGN(DeviceBuffer sink, DeviceBuffer::allocate(sizeof(unsigned)));
  auto rates =
      std::make_unique<CudaMemoryRates>(std::move(timer), std::move(from), std::move(to), std::move(sink));
  DRAFTSCOPE_TRY(rates->fill());
  return rates;
}

}  // namespace draftscope::bench
