// SPDX-License-Identifier: GPL-3.0-or-later
// Cost of going from one kernel of a graph to the next that depends on it: chains of kernels that read
// nothing, or as many bytes as a small matrix, with plain and with programmatic edges. Prints JSON.

#include "boundary_kernels.h"

#include <algorithm>
#include <cstdio>

#include "cuda_check.h"
#include "memory_kernels.h"
#include "quartiles.h"
#include "replay_timer.h"

namespace {

using namespace draftscope;
using bench::Boundary;

constexpr int chain_length = 160;  // five kernels a layer of a 32-layer model
constexpr int repeats = 15;

struct Named {
  Boundary boundary;
  const char* name;
};
constexpr Named boundaries[] = {
    {Boundary::plain, "plain"}, {Boundary::early, "early"}, {Boundary::prefetched, "prefetched"}};
constexpr int loads_per_thread[] = {0, 1, 8, 16};

Result<nlohmann::json> measure() {
  DRAFTSCOPE_TRY_ASSIGN(bench::ReplayTimer timer, bench::ReplayTimer::make());
  const int multiprocessors = timer.device().multiprocessors;
  const std::size_t largest = bench::chain_kernel_bytes(16, multiprocessors);
  DRAFTSCOPE_TRY_ASSIGN(const auto weights, bench::DeviceBuffer::allocate(chain_length * largest));
  DRAFTSCOPE_TRY_ASSIGN(const auto state, bench::DeviceBuffer::allocate(largest));
  DRAFTSCOPE_TRY(
      bench::check(bench::launch_fill(weights.data(), weights.bytes(), 1, timer.stream()), "filling memory"));
  DRAFTSCOPE_TRY(
      bench::check(bench::launch_fill(state.data(), state.bytes(), 2, timer.stream()), "filling memory"));
  nlohmann::json chains = nlohmann::json::array();
  for (const int loads : loads_per_thread) {
    const std::size_t bytes = bench::chain_kernel_bytes(loads, multiprocessors);
    for (const Named& named : boundaries) {
      if (named.boundary != Boundary::plain && !timer.device().has_early_starts) continue;
      const auto chain = [&](cudaStream_t stream) -> Result<void> {
        for (int i = 0; i < chain_length; ++i)
          DRAFTSCOPE_TRY(bench::check(
              bench::launch_chain_kernel(named.boundary, loads,
                                         weights.data() + static_cast<std::size_t>(i) * bytes,
                                         reinterpret_cast<float*>(state.data()), multiprocessors, stream),
              "launching a kernel"));
        return {};
      };
      DRAFTSCOPE_TRY_ASSIGN(std::vector<double> seconds, timer.seconds(chain, repeats));
      for (double& value : seconds) value *= 1e6 / chain_length;
      chains.push_back({{"boundary", named.name},
                        {"bytes_a_kernel", bytes},
                        {"kernels", chain_length},
                        {"microseconds_a_kernel", bench::spread(seconds)}});
    }
  }
  return chains;
}

}  // namespace

int main() {
  const auto result = measure();
  if (!result) return std::fprintf(stderr, "bench_gpu_boundaries: %s\n", result.error().message.c_str()), 1;
  std::printf("%s\n", result->dump(2).c_str());
}
