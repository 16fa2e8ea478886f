// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "calibration/read_memory.h"
#include "memory_rates.h"
#include "primitives/cuda_check.h"
#include "primitives/memory_kernels.h"
#include "primitives/replay_timer.h"

namespace draftscope::bench {

namespace {

constexpr std::size_t load_bytes = 16;

class CudaMemoryRates final : public MemoryRates {
 public:
  CudaMemoryRates(ReplayTimer timer, DeviceBuffer pool, DeviceBuffer sink)
      : timer_(std::move(timer)), pool_(std::move(pool)), sink_(std::move(sink)) {}

  Result<void> fill() {
    DRAFTSCOPE_TRY(check(launch_fill(pool_.data(), pool_.bytes(), 1, timer_.stream()), "filling memory"));
    return check(cudaStreamSynchronize(timer_.stream()), "filling memory");
  }

  Result<std::vector<double>> read(std::size_t bytes, int repeats) override {
    const std::size_t part = std::min(bytes / load_bytes * load_bytes, pool_.bytes());
    if (part == 0) return fail("bytes is {}, expected at least {}", bytes, load_bytes);
    const std::size_t parts = pool_.bytes() / part;
    const auto walk = [&](cudaStream_t stream) -> Result<void> {
      for (std::size_t i = 0; i < parts; ++i)
        DRAFTSCOPE_TRY(check(
            engine::read_memory(pool_.data() + i * part, part, reinterpret_cast<unsigned*>(sink_.data()),
                                timer_.device().multiprocessors, stream),
            "reading memory"));
      return {};
    };
    DRAFTSCOPE_TRY_ASSIGN(std::vector<double> rates, timer_.seconds(walk, repeats));
    for (double& value : rates) value = static_cast<double>(parts * part) / value;
    return rates;
  }

 private:
  ReplayTimer timer_;
  DeviceBuffer pool_;
  DeviceBuffer sink_;
};

}  // namespace

Result<std::unique_ptr<MemoryRates>> make_memory_rates(std::size_t pool_bytes) {
  DRAFTSCOPE_TRY_ASSIGN(ReplayTimer timer, ReplayTimer::make());
  DRAFTSCOPE_TRY_ASSIGN(DeviceBuffer pool, DeviceBuffer::allocate(pool_bytes));
  DRAFTSCOPE_TRY_ASSIGN(DeviceBuffer sink, DeviceBuffer::allocate(sizeof(unsigned)));
  auto rates = std::make_unique<CudaMemoryRates>(std::move(timer), std::move(pool), std::move(sink));
  DRAFTSCOPE_TRY(rates->fill());
  return rates;
}

}  // namespace draftscope::bench
