// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The vocabulary of engine/cuda/kernels/device.h on the host: every thread of a block is a fiber. A fiber
// runs until it reaches a collective; the last one of a warp, or of a block, resumes them all. From barrier
// to barrier blocks take turns. The blocks of a cooperative grid also take turns wherever a thread waits, and
// sometimes after an arrival.
//
// The emulation is faithful in indices, shared memory, barriers, shuffles and the fragments of mma.m16n8k16
// as PTX defines them. A copy's bytes are there after its wait and not before. It does not model time,
// caches, the order of summation inside an mma, and races that need two simultaneous threads.
//
// Only cooperative grids have barriers for copies, pieces and waits for arrivals. A piece's destination holds
// NaNs from its begin until all of its bytes arrive at once, at a time and in an order drawn from a seed.
// These are faults: an unaligned piece, one whose destination overlaps another piece in flight, and one that
// nobody waited for when its block ends. So are a barrier that was not initialised, and more pieces than a
// phase takes. It does not detect reads and writes of a piece's destination while it is in flight, nor a use
// of a barrier that follows its initialisation only by chance. A wait for arrivals takes no time: it returns
// false when no thread of the grid can continue. A thread that never waits is not interrupted.
//
// Operations on device memory are inlined into the kernel, so that its loads and stores are seen
// (device_accesses.h). Operations on threads alone are compiled elsewhere, so that they are not instrumented.

#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "half_pairs.h"
#include "numbers/bf16.h"

#define DRAFTSCOPE_DEVICE inline
#define DRAFTSCOPE_DEVICE_CALL inline

namespace draftscope::engine::cuda {

int thread_index();
int block_index();
int block_count();
int block_threads();
std::byte* shared_memory();
void synchronise();
void synchronise_lanes();

inline std::uint32_t float_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float bits_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t place_byte(std::uint32_t bytes, int i, int to, std::uint32_t word) {
  return (bytes >> (8 * i) & 0xffU) << (8 * to) | word;
}
inline std::uint32_t masked_above(std::uint32_t bits, std::uint32_t mask, std::uint32_t base) {
  return (bits & mask) | base;
}
inline float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}

/// The float nearest to the true value.
inline float exponential_of_two(float value) {
  const auto flushed = [](float a) {
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a;
  };
  const float result = flushed(static_cast<float>(std::exp2(static_cast<double>(flushed(value)))));
  return std::isnan(result) ? std::bit_cast<float>(0x7fffffffU) : result;
}

inline std::uint32_t low_halves(std::uint32_t low, std::uint32_t high) {
  return (low & 0xffffU) | high << 16U;
}
inline std::uint32_t high_halves(std::uint32_t low, std::uint32_t high) {
  return low >> 16U | (high & 0xffff0000U);
}
inline std::uint32_t low_half_twice(std::uint32_t word) {
  return low_halves(word, word);
}
inline std::uint32_t high_half_twice(std::uint32_t word) {
  return high_halves(word, word);
}

std::uint32_t shuffle_xor(std::uint32_t value, int mask);
inline float shuffle_xor(float value, int mask) {
  return std::bit_cast<float>(shuffle_xor(std::bit_cast<std::uint32_t>(value), mask));
}
inline double shuffle_xor(double value, int mask) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto low = shuffle_xor(static_cast<std::uint32_t>(bits), mask);
  return std::bit_cast<double>(
      std::uint64_t{shuffle_xor(static_cast<std::uint32_t>(bits >> 32U), mask)} << 32U | low);
}
inline int shuffle_xor(int value, int mask) {
  return static_cast<int>(shuffle_xor(static_cast<std::uint32_t>(value), mask));
}

unsigned arrive(unsigned* counter, unsigned n);
/// Waits until `n` arrivals have been counted since the counter was 0. This thread then sees what the
/// arriving blocks wrote before, and its block does after a barrier. False if that is impossible.
bool wait_for_arrivals(const unsigned* counter, unsigned n);

template <typename T>
T load_whole(const T* address) {
  return *address;
}

template <typename T>
T load_if(bool present, const T* address) {
  return present ? *address : T{};
}

inline void begin_fetch(const std::byte* /*from*/) {}
inline void begin_fetch(const std::byte* /*from*/, unsigned /*bytes*/) {}

inline std::uint64_t device_clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Starts a copy. Its bytes are not there before the wait: their destination is a NaN in every format.
void begin_copy(std::byte* to, const std::byte* from, bool present);
void end_copy_group();
namespace emulation {
void wait_for_copy_groups(std::size_t left);
}
template <int left>
void wait_for_copies() {
  emulation::wait_for_copy_groups(left);
}

/// An mbarrier in shared memory, which counts arrivals and bytes. Phases alternate in parity; the first has
/// parity 0.
struct alignas(8) CopyBarrier {
  std::uint64_t state;
};
/// Called by one thread, before a barrier of the block. A phase ends after `arrivals` arrivals and all bytes
/// that are on their way to it.
void init_barrier(CopyBarrier* barrier, unsigned arrivals);
/// Arrivals that begin_piece() makes at a barrier.
inline constexpr unsigned piece_arrivals = 1;
/// Called by all lanes of a warp: starts a copy of `bytes`, a multiple of 16, from device memory to shared
/// memory; both are aligned to 16. The phase of `filled` ends once the bytes have arrived.
void begin_piece(std::byte* to, const std::byte* from, unsigned bytes, CopyBarrier* filled);
/// Waits until the phase of that parity has ended, or not at all if the barrier is already in the next phase.
void wait_for_phase(CopyBarrier* barrier, unsigned parity);

using ::exp;
using ::expf;
using ::fmaf;
using ::fmaxf;
using ::log1p;
using ::sqrtf;

struct Bf16 {
  static float to_float(std::uint16_t bits) { return bf16_to_float(bits); }
  static std::uint16_t from_float(float value) { return float_to_bf16(value); }
  static std::uint32_t pair_from_floats(float low, float high) {
    return std::uint32_t{from_float(high)} << 16 | from_float(low);
  }
  static std::uint32_t multiply_add_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return emulation::multiply_add_pairs<Bf16>(a, b, c);
  }
  static std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
    return emulation::multiply_pairs<Bf16>(a, b);
  }
  static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1);
};

struct F16 {
  static float to_float(std::uint16_t bits) { return f16_to_float(bits); }
  static std::uint16_t from_float(float value);
  static std::uint32_t pair_from_floats(float low, float high) {
    return std::uint32_t{from_float(high)} << 16 | from_float(low);
  }
  static std::uint32_t multiply_add_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return emulation::multiply_add_pairs<F16>(a, b, c);
  }
  static std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
    return emulation::multiply_pairs<F16>(a, b);
  }
  static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1);
};

}  // namespace draftscope::engine::cuda
