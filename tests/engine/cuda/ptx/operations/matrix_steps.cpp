// SPDX-License-Identifier: GPL-3.0-or-later
#include "operations/matrix_steps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <vector>

#include "memory/access.h"
#include "operations/memory_steps.h"
#include "operations/narrow_floats.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

constexpr std::size_t matrix_rows = 16;
constexpr std::size_t matrix_columns = 8;

struct Bf16Element {
  static constexpr std::size_t per_word = 2;
  static float value(std::uint32_t word, std::size_t i) {
    return bf16_to_float(static_cast<std::uint16_t>(word >> (16 * i)));
  }
};
struct F16Element {
  static constexpr std::size_t per_word = 2;
  static float value(std::uint32_t word, std::size_t i) {
    return f16_to_float(static_cast<std::uint16_t>(word >> (16 * i)));
  }
};
template <const NarrowFormat& format>
struct ByteElement {
  static constexpr std::size_t per_word = 4;
  static float value(std::uint32_t word, std::size_t i) {
    static const std::vector<float> all = [] {
      std::vector<float> values;
      for (std::uint32_t bits = 0; bits < 256; ++bits)
        values.push_back(static_cast<float>(widened(bits, format)));
      return values;
    }();
    return all[word >> (8 * i) & 0xffU];
  }
};

/// `halves`: blocks of 4 · per_word along k, each a register of a lane (of A: two, for rows g and g + 8).
///
/// Fragments (PTX ISA 9.0, Matrix Fragments for mma.m16n8k16 and neighbours): lane 4·g + t holds of A rows g
/// and g + 8, of B column g, each at k = (half · 4 + t) · per_word …, and of C and D rows g and g + 8 at
/// columns 2·t and 2·t + 1.
template <typename Element, std::size_t halves>
void multiply_matrices(Warp& warp, const Step& step, Mask lanes) {
  constexpr std::size_t per_word = Element::per_word;
  constexpr std::size_t depth = halves * 4 * per_word;
  if (lanes != all_lanes)
    raise(__builtin_ctz(lanes), "mma by lanes {:#x} alone, expected all 32 of the warp", lanes);
  const std::span<const Slot> slots = warp.block->grid->program->list(step);
  const auto d_slots = slots.subspan(0, 4);
  const auto a_slots = slots.subspan(4, 2 * halves);
  const auto b_slots = slots.subspan(4 + 2 * halves, halves);
  const auto c_slots = slots.subspan(4 + 3 * halves, 4);

  std::array<std::array<float, depth>, matrix_rows> a;
  std::array<std::array<float, matrix_columns>, depth> b;
  std::array<std::array<float, matrix_columns>, matrix_rows> sums;
  // Whether a row of A, or a column of B, holds values throughout.
  std::uint32_t a_written = 0xffffU;
  std::uint32_t b_written = 0xffU;
  for (std::size_t i = 0; i < 2 * halves; ++i) {
    const auto words = load_lanes<std::uint32_t>(warp, a_slots[i]);
    const Mask written = written_lanes(warp, a_slots[i]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      const std::size_t row = lane / 4 + 8 * (i % 2);
      for (std::size_t j = 0; j < per_word; ++j)
        a[row][(i / 2 * 4 + lane % 4) * per_word + j] = Element::value(words[lane], j);
      if ((written >> lane & 1U) == 0) a_written &= ~(1U << row);
    }
  }
  for (std::size_t i = 0; i < halves; ++i) {
    const auto words = load_lanes<std::uint32_t>(warp, b_slots[i]);
    const Mask written = written_lanes(warp, b_slots[i]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      for (std::size_t j = 0; j < per_word; ++j)
        b[(i * 4 + lane % 4) * per_word + j][lane / 4] = Element::value(words[lane], j);
      if ((written >> lane & 1U) == 0) b_written &= ~(1U << (lane / 4));
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const auto values = load_lanes<float>(warp, c_slots[i]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = values[lane];
  }

  for (std::size_t row = 0; row < matrix_rows; ++row) {
    std::array<float, matrix_columns> sum = sums[row];
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t column = 0; column < matrix_columns; ++column) sum[column] += a[row][k] * b[k][column];
    sums[row] = sum;
  }

  for (std::size_t i = 0; i < 4; ++i) {
    Lanes<float> values;
    Mask written = written_lanes(warp, c_slots[i]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      const std::size_t row = lane / 4 + i / 2 * 8;
      const std::size_t column = lane % 4 * 2 + i % 2;
      values[lane] = sums[row][column];
      if ((a_written >> row & b_written >> column & 1U) == 0) written &= ~(Mask{1} << lane);
    }
    store_lanes(warp, d_slots[i], values, lanes);
    note_written(warp, d_slots[i], lanes, written, step.place + 1);
  }
}

constexpr MatrixProduct products[] = {
    {"m16n8k16.row.col.f32.bf16.bf16.f32", multiply_matrices<Bf16Element, 2>, 4, 2},
    {"m16n8k16.row.col.f32.f16.f16.f32", multiply_matrices<F16Element, 2>, 4, 2},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", multiply_matrices<Bf16Element, 1>, 2, 1},
    {"m16n8k8.row.col.f32.f16.f16.f32", multiply_matrices<F16Element, 1>, 2, 1},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", multiply_matrices<ByteElement<e4m3_format>, 2>, 4, 2},
    {"m16n8k32.row.col.f32.e5m2.e5m2.f32", multiply_matrices<ByteElement<e5m2_format>, 2>, 4, 2},
};

}  // namespace

const MatrixProduct* find_matrix_product(std::string_view modifiers) {
  const auto* found =
      std::find_if(std::begin(products), std::end(products),
                   [&](const MatrixProduct& product) { return product.modifiers == modifiers; });
  return found == std::end(products) ? nullptr : found;
}

void load_matrices(Warp& warp, const Step& step, Mask lanes) {
  if (lanes != all_lanes)
    raise(__builtin_ctz(lanes), "ldmatrix by lanes {:#x} alone, expected all 32 of the warp", lanes);
  constexpr std::size_t row_bytes = 16;
  const std::span<const Slot> slots = warp.block->grid->program->list(step);
  // Lanes 8·i … give the rows of matrix i; of fewer than four matrices, the lanes beyond them give none.
  const Mask with_rows = slots.size() == 4 ? all_lanes : (Mask{1} << (8 * slots.size())) - 1;
  const Addresses addresses = addresses_of(warp, step, step.a, step.a_bytes, with_rows);
  for (std::size_t matrix = 0; matrix < slots.size(); ++matrix) {
    std::array<std::array<std::uint16_t, 8>, 8> values{};
    std::array<std::array<bool, 8>, 8> held{};
    for (std::size_t row = 0; row < 8; ++row) {
      const auto lane = static_cast<int>(8 * matrix + row);
      const Place place = place_of(warp, step.space, lane, addresses[static_cast<std::size_t>(lane)],
                                   row_bytes, Access::load);
      std::memcpy(values[row].data(), place.data, row_bytes);
      for (std::size_t i = 0; i < 8; ++i)
        held[row][i] = place.written[2 * i] != 0 && place.written[2 * i + 1] != 0;
    }
    Lanes<std::uint32_t> words{};
    Mask written = 0;
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      bool is_held = true;
      for (std::size_t i = 0; i < 2; ++i) {
        std::size_t row = lane / 4;
        std::size_t column = lane % 4 * 2 + i;
        if (step.option == 1) std::swap(row, column);
        words[lane] |= static_cast<std::uint32_t>(values[row][column]) << (16 * i);
        is_held = is_held && held[row][column];
      }
      written |= static_cast<Mask>(is_held) << lane;
    }
    store_lanes(warp, slots[matrix], words, lanes);
    note_written(warp, slots[matrix], lanes, written, step.place + 1);
  }
  count_request(warp, step.space, with_rows, addresses, row_bytes, Access::load);
}

}  // namespace draftscope::ptx
