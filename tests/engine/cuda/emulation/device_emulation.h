// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The vocabulary of engine/cuda/kernels/device.h on the host: every thread of a block is a fiber. A fiber
// runs until it reaches a collective; the last of a warp, or of a block, lets all go on. Blocks run one after
// another.
//
// What it is faithful to: indices, shared memory, barriers, shuffles and the fragments of mma.m16n8k16 as PTX
// defines them; and that a kernel's first blocks start before the kernel ahead has done anything, where they
// may. What it is not: time, caches, the order of summation inside an mma, and races that need two threads at
// once.

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cpu/kernels/bf16.h"

#define DRAFTSCOPE_DEVICE inline

namespace draftscope::engine::cuda {

namespace emulation {

/// The place of the fiber that runs at the moment.
struct Here {
  int thread, block, blocks, threads;
  std::byte* shared;
};
[[nodiscard]] const Here& here();

void block_barrier();
void wait_for_kernels();

/// All lanes of the warp hand in six words; returns what each handed in, valid until this lane's next
/// exchange.
using Words = std::array<std::uint32_t, 6>;
[[nodiscard]] const std::array<Words, 32>& exchange(const Words& mine);

}  // namespace emulation

inline int thread_index() {
  return emulation::here().thread;
}
inline int block_index() {
  return emulation::here().block;
}
inline int block_count() {
  return emulation::here().blocks;
}
inline int block_threads() {
  return emulation::here().threads;
}
inline std::byte* shared_memory() {
  return emulation::here().shared;
}
inline void synchronise() {
  emulation::block_barrier();
}
inline void wait_for_previous_kernel() {
  emulation::wait_for_kernels();
}
inline void let_next_kernel_start() {}

inline std::uint32_t float_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

inline std::uint32_t shuffle_xor(std::uint32_t value, int mask) {
  const int lane = thread_index() % 32;
  return emulation::exchange({value})[static_cast<std::size_t>(lane ^ mask)][0];
}
inline float shuffle_xor(float value, int mask) {
  return std::bit_cast<float>(shuffle_xor(std::bit_cast<std::uint32_t>(value), mask));
}
inline int shuffle_xor(int value, int mask) {
  return static_cast<int>(shuffle_xor(static_cast<std::uint32_t>(value), mask));
}

inline unsigned arrive(unsigned* counter) {
  return (*counter)++;
}

inline std::uint64_t device_clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

template <typename T>
T load_streaming(const T* address) {
  return *address;
}

using ::exp;
using ::expf;
using ::fmaxf;
using ::log1p;
using ::sqrtf;

namespace emulation {

template <typename Element>
void multiply_accumulate(float (&sum)[4], const Words& mine) {
  const auto& all = exchange(mine);
  const auto lane = static_cast<std::size_t>(thread_index() % 32);
  const std::size_t g = lane / 4;
  const std::size_t t = lane % 4;
  const auto half = [](std::uint32_t word, std::size_t which) {
    return Element::to_float(static_cast<std::uint16_t>(word >> (16 * which)));
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t lower = i / 2;  // row g or g + 8
    const std::size_t column = t * 2 + i % 2;
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t pair = k % 8 / 2;
      const Words& a = all[g * 4 + pair];
      const Words& b = all[column * 4 + pair];
      sum[i] += half(a[k / 8 * 2 + lower], k % 2) * half(b[4 + k / 8], k % 2);
    }
  }
}

}  // namespace emulation

struct Bf16 {
  static float to_float(std::uint16_t bits) { return cpu::bf16_to_float(bits); }
  static std::uint16_t from_float(float value) { return cpu::float_to_bf16(value); }
  static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
    emulation::multiply_accumulate<Bf16>(sum, {a0, a1, a2, a3, b0, b1});
  }
};

struct F16 {
  static float to_float(std::uint16_t bits) { return cpu::f16_to_float(bits); }
  static std::uint16_t from_float(float value);
  static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
    emulation::multiply_accumulate<F16>(sum, {a0, a1, a2, a3, b0, b1});
  }
};

inline std::uint32_t multiply_bf16_pairs(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int i = 0; i < 2; ++i) {
    const auto half = [i](std::uint32_t word) {
      return Bf16::to_float(static_cast<std::uint16_t>(word >> (16 * i)));
    };
    product |= static_cast<std::uint32_t>(Bf16::from_float(half(a) * half(b))) << (16 * i);
  }
  return product;
}

}  // namespace draftscope::engine::cuda
