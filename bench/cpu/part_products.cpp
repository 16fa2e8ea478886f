// SPDX-License-Identifier: GPL-3.0-or-later
// Products of a rank: bf16 matrices whose columns are summed in parts (engine/cpu/kernels/parts.h), against
// the same columns in one part, on one thread, the weights in the caches.
//
//   bench_part_products
//   valgrind --tool=callgrind --toggle-collect='*repeat_product*' bench_part_products SET COLUMNS PARTS ROWS
//
// The first prints ratios of times, for each set of kernels. The second runs one product 100 times, whose
// instructions callgrind counts: the same on a busy machine.

#include <draftscope/base/number.h>
#include <draftscope/engine/checkpoint.h>
#include <fmt/format.h>
#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

#include "cpu/kernels/bf16.h"
#include "cpu/kernels/kernels.h"
#include "cpu/memory.h"
#include "thread_time.h"

namespace draftscope::bench {
namespace {

using namespace engine::cpu;  // the kernels' own names

constexpr std::int64_t outputs = 256;

struct Product {
  Memory weights, set;
  std::vector<float> out;
  ProductTask task;
};

Product make_product(const ProductKernels& kernels, std::int64_t columns, std::int64_t parts,
                     std::int32_t rows) {
  const auto values = static_cast<std::size_t>(outputs * columns);
  const std::int64_t depth = columns / parts;
  Product product{std::move(*Memory::allocate(2 * values)),
                  std::move(*Memory::allocate(kernels.set_bytes(rows, depth, parts))),
                  std::vector<float>(static_cast<std::size_t>(outputs * rows)),
                  {}};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto* weights = product.weights.as<std::uint16_t>();
  for (std::size_t i = 0; i < values; ++i) weights[i] = float_to_bf16(0.02F * normal(random));
  const std::vector<float> row(static_cast<std::size_t>(columns), 0.5F);
  for (std::int32_t index = 0; index < rows; ++index)
    kernels.pack(row.data(), index, depth, parts, product.set.data());
  product.task = {product.weights.data(),
                  product.set.data(),
                  nullptr,
                  depth,
                  rows,
                  false,
                  product.out.data(),
                  outputs,
                  outputs,
                  parts};
  return product;
}

[[gnu::noinline]] void repeat_product(const ProductKernels& kernels, const Product& product, int turns) {
  for (int turn = 0; turn < turns; ++turn) kernels.product(product.task, 0, outputs);
}

double fastest_seconds(const ProductKernels& kernels, std::int64_t columns, std::int64_t parts,
                       std::int32_t rows) {
  constexpr int repeats = 15;
  constexpr std::int64_t multiply_adds = 10'000'000;  // of a repeat
  const int turns = static_cast<int>(multiply_adds / (outputs * columns * rows)) + 1;
  const Product product = make_product(kernels, columns, parts, rows);
  double fastest = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double start = thread_seconds();
    repeat_product(kernels, product, turns);
    const double seconds = (thread_seconds() - start) / turns;
    fastest = repeat == 0 ? seconds : std::min(fastest, seconds);
  }
  return fastest;
}

const ProductKernels& products_of(const Kernels& set) {
  return set.products[static_cast<std::size_t>(engine::DType::bf16)];
}

void print_ratios(const Kernels& set) {
  fmt::print("{}, {} outputs: columns in parts, in one part's time\n", set.name, outputs);
  for (const std::int64_t columns : {128, 256, 1024, 4096})
    for (const std::int32_t rows : {1, 2, 4, 9, 16}) {
      const double one = fastest_seconds(products_of(set), columns, 1, rows);
      fmt::print("{:>5} columns, {:>2} rows {:8.2f} us", columns, rows, 1e6 * one);
      for (const std::int64_t parts : {2, 4, 8})
        fmt::print("   {} parts {:.2f}", parts,
                   fastest_seconds(products_of(set), columns, parts, rows) / one);
      fmt::print("\n");
    }
}

int run_one(std::string_view name, std::int64_t columns, std::int64_t parts, std::int32_t rows) {
  for (const Kernels* set : available_kernels()) {
    if (set->name != name) continue;
    constexpr int turns = 100;
    repeat_product(products_of(*set), make_product(products_of(*set), columns, parts, rows), turns);
    return 0;
  }
  fmt::print(stderr, "bench_part_products: found kernels {}, expected those of this processor\n", name);
  return 1;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  using namespace draftscope;
  if (argc == 1) {
    for (const auto* set : engine::cpu::available_kernels()) bench::print_ratios(*set);
    return 0;
  }
  constexpr int all = 5;
  const auto number = [&](int i) {
    return argc == all ? parse_number<std::int32_t>(argv[i]).value_or(0) : 0;
  };
  const std::int32_t columns = number(2);
  const std::int32_t parts = number(3);
  if (parts < 1 || parts > engine::cpu::max_parts || (parts & (parts - 1)) != 0 || columns < parts ||
      number(4) < 1) {
    fmt::print(stderr, "bench_part_products: expected nothing, or SET COLUMNS PARTS ROWS\n");
    return 2;
  }
  return bench::run_one(argv[1], columns, parts, number(4));
}
