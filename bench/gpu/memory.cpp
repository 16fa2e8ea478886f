// SPDX-License-Identifier: GPL-3.0-or-later
// Read rate of the device's memory at the sizes of a model's matrices.
// Usage: bench_gpu_memory
// Prints JSON.

#include <cstdio>

#include "calibration/memory_probe.h"
#include "quartiles.h"

namespace {

using namespace draftscope;

Result<nlohmann::json> measure() {
  constexpr std::size_t pool_bytes = std::size_t{4} << 30;
  constexpr int repeats = 9;
  // Sizes of matrices of an 8B and a 1B model in MB (o, qkv, gate and up, head …), and the whole pool.
  constexpr std::size_t megabyte = 1'000'000;
  constexpr std::size_t sizes[] = {12 * megabyte,  34 * megabyte,   50 * megabyte, 117 * megabyte,
                                   235 * megabyte, 1050 * megabyte, pool_bytes};
  nlohmann::json by_size = nlohmann::json::array();
  for (const std::size_t bytes : sizes) {
    DRAFTSCOPE_TRY_ASSIGN(const auto probe, engine::make_cuda_memory_probe(pool_bytes, bytes));
    std::vector<double> read(repeats);
    for (double& value : read) {
      DRAFTSCOPE_TRY_ASSIGN(value, probe->gb_per_s());
    }
    by_size.push_back({{"bytes", bytes}, {"read_gb_per_s", bench::spread(read)}});
  }
  return by_size;
}

}  // namespace

int main() {
  const auto result = measure();
  if (!result) return std::fprintf(stderr, "bench_gpu_memory: %s\n", result.error().message.c_str()), 1;
  std::printf("%s\n", result->dump(2).c_str());
}
