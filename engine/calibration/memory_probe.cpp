// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/memory_probe.h"

#include <draftscope/base/clock.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "cpu/processor.h"

namespace draftscope::engine {

namespace {

/// Sums values. Independent sums let loads run ahead of additions. Prefetches where the products of the
/// backend do, so that no pass reads faster than the probe.
std::uint64_t sum_of(std::span<const std::uint64_t> values) {
  constexpr std::size_t lanes = 8;  // one cache line
  constexpr std::size_t ahead = 64 * lanes;
  const std::size_t prefetched =
      cpu::streams_want_prefetches() && values.size() > ahead ? values.size() - ahead : 0;
  std::array<std::uint64_t, lanes> sums{};
  for (std::size_t i = 0; i + lanes <= values.size(); i += lanes) {
    if (i < prefetched) __builtin_prefetch(&values[i + ahead]);
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += values[i + lane];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total ^= sum;
  return total;
}

class CpuMemoryProbe final : public MemoryProbe {
 public:
  CpuMemoryProbe(std::int32_t threads, std::size_t bytes)
      : threads_(threads), values_(bytes / sizeof(std::uint64_t), 1) {}

  Result<double> gb_per_s() override {
    const std::size_t part = values_.size() / static_cast<std::size_t>(threads_);
    std::atomic<std::uint64_t> total{0};
    std::vector<std::jthread> readers;
    readers.reserve(static_cast<std::size_t>(threads_));
    const std::int64_t start_ns = now_ns();
    for (std::int32_t thread = 0; thread < threads_; ++thread)
      readers.emplace_back([&, thread] {
        total ^= sum_of(std::span(values_).subspan(static_cast<std::size_t>(thread) * part, part));
      });
    for (std::jthread& reader : readers) reader.join();
    const auto ns = static_cast<double>(now_ns() - start_ns);
    return static_cast<double>(part * sizeof(std::uint64_t)) * threads_ / ns;
  }

 private:
  std::int32_t threads_;
  std::vector<std::uint64_t> values_;
};

}  // namespace

std::unique_ptr<MemoryProbe> make_cpu_memory_probe(std::int32_t threads, std::size_t bytes) {
  return std::make_unique<CpuMemoryProbe>(threads, bytes);
}

}  // namespace draftscope::engine
