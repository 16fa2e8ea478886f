// SPDX-License-Identifier: GPL-3.0-or-later
// Products of packed weights on one thread, by format and rows, as ratios to bf16's product of one row. The
// matrices of a format are more than a last cache holds and take turns, as a model's layers do. Formats are
// interleaved; a figure is the fastest of the repeats, of the thread's own time.

#include <draftscope/engine/checkpoint.h>
#include <fmt/format.h>
#include <time.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/memory.h"
#include "cpu/quantised/activations.h"
#include "cpu/quantised/pack_matrices.h"
#include "cpu/quantised/packed_matrix.h"
#include "numbers/bf16.h"
#include "read_bandwidth.h"
#include "thread_time.h"

namespace draftscope::bench {
namespace {

using namespace engine::cpu;  // the kernels' own names

constexpr std::int64_t outputs = 2048;
constexpr std::int64_t depth = 4096;
constexpr std::size_t held_bytes = std::size_t{384} << 20;
constexpr std::int32_t max_rows = 16;
constexpr int repeats = 15;

/// Copies of one matrix, as many as held_bytes has room for.
struct Contender {
  std::string name;
  const PackedLayout* layout = nullptr;  ///< Null = bf16.
  std::size_t bytes = 0;                 ///< Bytes of one copy.
  Memory copies;
  std::vector<std::byte> set;
  double fastest[max_rows + 1] = {};
};

void multiply(const Kernels& kernels, const Contender& of, const std::byte* data, std::int32_t rows,
              float* out) {
  if (of.layout != nullptr)
    kernels.packed->product(
        {{of.layout, data, outputs, depth}, of.set.data(), nullptr, rows, false, out, outputs}, 0, outputs);
  else
    kernels.products[static_cast<std::size_t>(engine::DType::bf16)].product(
        {data, of.set.data(), nullptr, depth, rows, false, out, outputs, outputs}, 0, outputs);
}

/// Seconds of one matrix.
double measure(const Kernels& kernels, const Contender& of, std::int32_t rows, std::vector<float>& out) {
  const std::size_t count = of.copies.bytes() / of.bytes;
  const double start = thread_seconds();
  for (std::size_t copy = 0; copy < count; ++copy)
    multiply(kernels, of, of.copies.data() + copy * of.bytes, rows, out.data());
  return (thread_seconds() - start) / static_cast<double>(count);
}

std::vector<Contender> contenders(const Kernels& kernels) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> plain(static_cast<std::size_t>(outputs * depth));
  for (std::uint16_t& weight : plain) weight = engine::float_to_bf16(0.02F * normal(random));
  std::vector<float> row(static_cast<std::size_t>(depth));
  const auto bytes_of = [](const auto& values) { return reinterpret_cast<const std::byte*>(values.data()); };

  std::vector<Contender> all;
  const auto add = [&](std::string name, const PackedLayout* layout, const std::vector<std::byte>& one) {
    const std::size_t bytes = held_bytes / one.size() * one.size();
    Contender contender{
        std::move(name), layout, one.size(), std::move(*Memory::allocate(bytes, Pages::large)), {}};
    for (std::size_t used = 0; used < bytes; used += one.size())
      std::memcpy(contender.copies.data() + used, one.data(), one.size());
    const auto& products = kernels.products[static_cast<std::size_t>(engine::DType::bf16)];
    contender.set.resize(layout != nullptr ? activation_set_bytes(max_rows, depth)
                                           : products.set_bytes(max_rows, depth));
    for (std::int32_t index = 0; index < max_rows; ++index) {
      for (float& value : row) value = normal(random);
      (layout != nullptr ? kernels.packed->pack : products.pack)(row.data(), index, depth,
                                                                 contender.set.data());
    }
    all.push_back(std::move(contender));
  };
  add("bf16", nullptr, {bytes_of(plain), bytes_of(plain) + 2 * plain.size()});
  for (const PackedLayout& layout : packed_layouts) {
    std::vector<std::byte> packed(packed_bytes(layout, outputs, depth));
    if (!layout.has_two_levels())
      pack_matrices({{{bytes_of(plain), engine::DType::bf16, outputs, depth}, &layout, packed.data()}});
    add(std::string(speculation::weight_format_name(layout.format)), &layout, packed);
  }
  return all;
}

void run() {
  const Kernels& kernels = *available_kernels().back();
  std::vector<Contender> all = contenders(kernels);
  std::vector<float> out(static_cast<std::size_t>(max_rows * outputs));
  constexpr std::int32_t widths[] = {1, 2, 4, 8, 16};
  double probe = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    probe =
        std::max(probe, read_bandwidth({all.front().copies.data(), all.front().copies.bytes()}, 1) * 1e-9);
    for (Contender& contender : all)
      for (const std::int32_t rows : widths) {
        const double seconds = measure(kernels, contender, rows, out);
        double& fastest = contender.fastest[rows];
        fastest = repeat == 0 ? seconds : std::min(fastest, seconds);
      }
  }
  fmt::print("kernels {}, packed {}, {} x {}, one thread; read probe {:.1f} GB/s\n", kernels.name,
             kernels.packed->name, outputs, depth, probe);
  const double one = all.front().fastest[1];
  for (const Contender& contender : all) {
    fmt::print("{:<5} {:.2f} bits", contender.name,
               8.0 * static_cast<double>(contender.bytes) / static_cast<double>(outputs * depth));
    for (const std::int32_t rows : widths)
      fmt::print("  {:>2} rows {:.2f}", rows, contender.fastest[rows] / one);
    fmt::print("  {:.1f} GB/s at one row\n",
               static_cast<double>(contender.bytes) / contender.fastest[1] * 1e-9);
  }
}

}  // namespace
}  // namespace draftscope::bench

int main() {
  draftscope::bench::run();
}
