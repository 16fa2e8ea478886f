// SPDX-License-Identifier: GPL-3.0-or-later
// bf16 products of several rows on one thread: where the second cache holds the weights, so that arithmetic
// decides, as shares of what VDPBF16PS does in registers; and where memory decides, as ratios to one row.
//
//   bench_row_products [avx512-bf16|amx-bf16]
//
// Widths and roof take turns; a figure is the fastest of the repeats, of the thread's own time.

#include <draftscope/engine/checkpoint.h>
#include <fmt/format.h>
#include <immintrin.h>
#include <time.h>
#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/memory.h"
#include "numbers/bf16.h"
#include "thread_time.h"

namespace draftscope::bench {
namespace {

using namespace engine::cpu;  // the kernels' own names

constexpr std::int32_t widths[] = {1, 2, 4, 8, 16, 32, 64};
constexpr std::int32_t max_rows = 64;
constexpr int repeats = 25;

/// Multiply-adds a second of VDPBF16PS on registers alone.
[[gnu::target("avx512f,avx512bf16")]] double dot_product_roof() {
  constexpr int chains = 16;
  constexpr std::int64_t rounds = 100'000;
  __m512 sums[chains];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512i bits = _mm512_set1_epi16(0x3f80);
  asm("" : "+v"(bits));
  const auto ones = reinterpret_cast<__m512bh>(bits);
  const double start = thread_seconds();
  for (std::int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 16
    for (__m512& sum : sums) {
      sum = _mm512_dpbf16_ps(sum, ones, ones);
      asm("" : "+v"(sum));
    }
  const double seconds = thread_seconds() - start;
  return static_cast<double>(rounds * chains * 32) / seconds;
}

/// Copies of one matrix that take turns, as a model's layers do.
struct Problem {
  std::int64_t outputs, depth, copies;
  Memory weights;
};

Problem make_problem(std::int64_t outputs, std::int64_t depth, std::int64_t copies) {
  const auto values = static_cast<std::size_t>(outputs * depth * copies);
  Problem problem{outputs, depth, copies, std::move(*Memory::allocate(2 * values, Pages::large))};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto* weights = problem.weights.as<std::uint16_t>();
  const auto one = static_cast<std::size_t>(outputs * depth);
  for (std::size_t i = 0; i < one; ++i) weights[i] = engine::float_to_bf16(0.02F * normal(random));
  for (std::size_t i = one; i < values; ++i) weights[i] = weights[i - one];
  return problem;
}

/// Seconds of one matrix.
double measure(const ProductKernels& kernels, const Problem& problem, const std::byte* set, std::int32_t rows,
               float* out, int turns) {
  const std::int64_t bytes = 2 * problem.outputs * problem.depth;
  const double start = thread_seconds();
  for (int turn = 0; turn < turns; ++turn)
    for (std::int64_t copy = 0; copy < problem.copies; ++copy)
      kernels.product({problem.weights.data() + copy * bytes, set, nullptr, problem.depth, rows, false, out,
                       problem.outputs, problem.outputs},
                      0, problem.outputs);
  return (thread_seconds() - start) / static_cast<double>(turns * problem.copies);
}

void run(const Kernels& set, const Problem& problem, int turns, const char* name) {
  const ProductKernels& kernels = set.products[static_cast<std::size_t>(engine::DType::bf16)];
  const Memory activations = std::move(*Memory::allocate(kernels.set_bytes(max_rows, problem.depth)));
  std::vector<float> row(static_cast<std::size_t>(problem.depth), 0.5F);
  for (std::int32_t index = 0; index < max_rows; ++index)
    kernels.pack(row.data(), index, problem.depth, activations.data());
  std::vector<float> out(static_cast<std::size_t>(max_rows * problem.outputs));
  double fastest[std::size(widths)] = {};
  double roof = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    roof = std::max(roof, dot_product_roof());
    for (std::size_t i = 0; i < std::size(widths); ++i) {
      const double seconds = measure(kernels, problem, activations.data(), widths[i], out.data(), turns);
      fastest[i] = repeat == 0 ? seconds : std::min(fastest[i], seconds);
    }
  }
  fmt::print("{}, {}: {} matrices of {} x {}; VDPBF16PS in registers {:.0f} G multiply-adds/s\n", set.name,
             name, problem.copies, problem.outputs, problem.depth, roof * 1e-9);
  for (std::size_t i = 0; i < std::size(widths); ++i) {
    const auto weights = static_cast<double>(problem.outputs * problem.depth);
    const double rate = weights * widths[i] / fastest[i];
    fmt::print("{:>4} rows {:8.1f} us  {:5.2f} of one row  {:6.0f} G/s, {:4.0f} %  {:5.1f} GB/s\n", widths[i],
               fastest[i] * 1e6, fastest[i] / fastest[0], rate * 1e-9, 100.0 * rate / roof,
               2e-9 * weights / fastest[i]);
  }
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  using namespace draftscope::bench;
  const std::string_view asked = argc > 1 ? argv[1] : "";
  const Problem cached = make_problem(256, 2048, 1);
  const Problem streamed = make_problem(2048, 2048, 48);
  for (const Kernels* set : available_kernels()) {
    if (set->name != "avx512-bf16" && set->name != "amx-bf16") continue;
    if (!asked.empty() && set->name != asked) continue;
    run(*set, cached, 4, "weights in the second cache");
    run(*set, streamed, 1, "weights in memory");
  }
}
