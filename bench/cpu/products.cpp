// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the products of every kernel set by rows: the rate at which one thread reads weights for one row,
// beside a plain stream, and T(M)/T(1). Matrices are cold, and widths take turns in random order. Times are
// those of the thread, so that other programs disturb them little. Fails if more rows are faster than one.

#include <draftscope/base/statistics.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/memory.h"
#include "cpu/quantised/activations.h"

namespace draftscope::bench {
namespace {

using engine::DType;
using namespace engine::cpu;

constexpr std::int32_t widths[] = {1, 2, 4, 5, 8, 16};
constexpr std::int32_t max_width = 16;
/// T(M)/T(1) below this is an error: one row reads the same weights and computes less.
constexpr double min_against_one = 0.97;
constexpr std::size_t buffer_bytes = std::size_t{256} << 20;  // more than a third-level cache

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Reads whole cache lines in order. Eight independent sums keep the loads ahead of the additions.
void stream(std::span<const std::byte> bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 64 <= bytes.size(); i += 64) {
    std::uint64_t words[8];
    std::memcpy(words, bytes.data() + i, sizeof words);
    for (int word = 0; word < 8; ++word) sums[word] += words[word];
  }
  // A result that is kept keeps the compiler from leaving out the reading.
  [[maybe_unused]] const volatile std::uint64_t kept = std::accumulate(sums, sums + 8, std::uint64_t{0});
}

/// Products of one kernel set with weights of one format, for matrices of one shape.
struct Subject {
  std::string name;
  std::int64_t depth, outputs;
  std::size_t matrix_bytes;
  std::function<void(const std::byte* matrix, std::int32_t rows)> multiply;
};

/// A set of max_width equal rows, and room for the results.
struct Operands {
  std::vector<std::byte> set;
  std::vector<float> out;
  Operands(std::size_t set_bytes, std::int64_t outputs)
      : set(set_bytes + 64), out(static_cast<std::size_t>(max_width * outputs)) {}
  std::byte* aligned() {
    const auto place = reinterpret_cast<std::uintptr_t>(set.data());
    return set.data() + (64 - place % 64) % 64;
  }
};

Subject plain(const Kernels& kernels, DType dtype, std::int64_t depth, std::int64_t outputs) {
  const ProductKernels& products = kernels.products[static_cast<std::size_t>(dtype)];
  auto held = std::make_shared<Operands>(products.set_bytes(max_width, depth), outputs);
  const std::vector<float> row(static_cast<std::size_t>(depth), 0.5F);
  for (std::int32_t i = 0; i < max_width; ++i) products.pack(row.data(), i, depth, held->aligned());
  return {std::string(dtype_name(dtype)), depth, outputs,
          static_cast<std::size_t>(depth * outputs) * dtype_bytes(dtype),
          [=](const std::byte* matrix, std::int32_t rows) {
            products.product(
                {matrix, held->aligned(), nullptr, depth, rows, false, held->out.data(), outputs, outputs}, 0,
                outputs);
          }};
}

Subject packed(const PackedProducts& products, const PackedLayout& layout, std::int64_t depth,
               std::int64_t outputs) {
  auto held = std::make_shared<Operands>(activation_set_bytes(max_width, depth), outputs);
  const std::vector<float> row(static_cast<std::size_t>(depth), 0.5F);
  for (std::int32_t i = 0; i < max_width; ++i) products.pack(row.data(), i, depth, held->aligned());
  return {std::string(speculation::weight_format_name(layout.format)), depth, outputs,
          packed_bytes(layout, outputs, depth), [=, &layout](const std::byte* matrix, std::int32_t rows) {
            products.product({{&layout, matrix, outputs, depth},
                              held->aligned(),
                              nullptr,
                              rows,
                              false,
                              held->out.data(),
                              outputs},
                             0, outputs);
          }};
}

/// Prints one line; returns whether one row is the fastest.
bool measure(std::string_view set, const Subject& subject, const Memory& memory, int repeats) {
  constexpr std::size_t turns = std::size(widths) + 1;
  std::vector<double> rates[turns];  // GB/s; the first of the stream
  std::size_t at = 0;
  // Turns are shuffled, since each finds the caches as the one before it left them.
  std::mt19937_64 random(1);
  std::size_t order[turns];
  std::iota(order, order + turns, std::size_t{0});
  for (std::size_t turn = 0; turn < static_cast<std::size_t>(repeats) * turns; ++turn) {
    if (turn % turns == 0) std::shuffle(order, order + turns, random);
    if (at + 2 * subject.matrix_bytes > memory.bytes()) at = 0;
    const std::byte* matrix = memory.data() + at;
    at += (subject.matrix_bytes + 63) / 64 * 64;
    const std::size_t which = order[turn % turns];
    const double start = thread_seconds();
    if (which == 0)
      stream({matrix, subject.matrix_bytes});
    else
      subject.multiply(matrix, widths[which - 1]);
    rates[which].push_back(static_cast<double>(subject.matrix_bytes) * 1e-9 / (thread_seconds() - start));
  }
  // Other programs only slow a turn down: the upper quartile is disturbed least.
  const auto rate = [&](std::size_t which) { return quantile_below(rates[which], 0.75); };
  fmt::print("{:<12} {:<5} {:>5} x {:<5} stream {:4.1f}, one row {:4.1f} GB/s; of one row:", set,
             subject.name, subject.depth, subject.outputs, rate(0), rate(1));
  bool fastest = true;
  for (std::size_t i = 1; i < std::size(widths); ++i) {
    const double against_one = rate(1) / rate(i + 1);
    fastest = fastest && against_one >= min_against_one;
    fmt::print(" {} {:.2f}{}", widths[i], against_one, against_one < min_against_one ? "!" : "");
  }
  fmt::print("\n");
  return fastest;
}

int run(int repeats, const std::string& only) {
  auto memory = Memory::allocate(buffer_bytes, Pages::large);
  if (!memory) return fmt::print(stderr, "{}\n", memory.error().message), 1;
  // 0x3c3c is a small positive number of every type.
  std::memset(memory->data(), 0x3c, memory->bytes());
  constexpr std::int64_t shapes[][2] = {{576, 1536}, {1536, 576}, {2048, 1024}, {8192, 256}};
  int slower = 0;
  for (const Kernels* kernels : available_kernels()) {
    if (kernels == available_kernels().front() || (!only.empty() && kernels->name != only)) continue;
    for (const auto& [depth, outputs] : shapes) {
      for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
        slower += measure(kernels->name, plain(*kernels, dtype, depth, outputs), *memory, repeats) ? 0 : 1;
      for (const PackedLayout& layout : packed_layouts)
        slower += measure(kernels->name, packed(*kernels->packed, layout, depth, outputs), *memory, repeats)
                      ? 0
                      : 1;
    }
  }
  if (slower > 0)
    fmt::print(stderr, "{} products take less than {} of one row for more rows, expected none (marked !)\n",
               slower, min_against_one);
  return slower > 0 ? 1 : 0;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  int repeats = 50;
  std::string kernels;
  CLI::App app("Measures products of the CPU backend by rows, on one thread");
  app.add_option("--repeats", repeats)->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--kernels", kernels, "one kernel set; default all but the portable one");
  CLI11_PARSE(app, argc, argv);
  return draftscope::bench::run(repeats, kernels);
}
