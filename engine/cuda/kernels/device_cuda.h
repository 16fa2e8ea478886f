// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Implements the vocabulary of device.h on a GPU of compute capability 8.0 or later.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstddef>
#include <cstdint>

#define DRAFTSCOPE_DEVICE __device__ __forceinline__
/// Marks a function that is not inlined, which shortens compilation of a kernel of many operations.
#define DRAFTSCOPE_DEVICE_CALL __device__ __noinline__

namespace draftscope::engine::cuda {

DRAFTSCOPE_DEVICE int thread_index() {
  return static_cast<int>(threadIdx.x);
}
DRAFTSCOPE_DEVICE int block_index() {
  return static_cast<int>(blockIdx.x);
}
DRAFTSCOPE_DEVICE int block_count() {
  return static_cast<int>(gridDim.x);
}
DRAFTSCOPE_DEVICE int block_threads() {
  return static_cast<int>(blockDim.x);
}

DRAFTSCOPE_DEVICE std::byte* shared_memory() {
  extern __shared__ __align__(16) std::byte draftscope_shared_memory[];  // Chunks are read from it.
  return draftscope_shared_memory;
}

DRAFTSCOPE_DEVICE void synchronise() {
  __syncthreads();
}
/// A barrier of a warp. After it, all lanes see what each lane wrote to shared memory, including copies that
/// a lane waited for.
DRAFTSCOPE_DEVICE void synchronise_lanes() {
  __syncwarp();
}
DRAFTSCOPE_DEVICE std::uint32_t float_bits(float value) {
  return __float_as_uint(value);
}
DRAFTSCOPE_DEVICE float bits_float(std::uint32_t bits) {
  return __uint_as_float(bits);
}
/// Puts byte `i` of `bytes` into byte `to` of `word`, which must be 0 there; both indices are constants.
DRAFTSCOPE_DEVICE std::uint32_t place_byte(std::uint32_t bytes, int i, int to, std::uint32_t word) {
  const auto others = 0x7654U & ~(0xfU << 4 * to);
  return __byte_perm(bytes, word, others | static_cast<std::uint32_t>(i) << 4 * to);
}
/// Computes `bits & mask | base` in one instruction; mask and base are constants.
DRAFTSCOPE_DEVICE std::uint32_t masked_above(std::uint32_t bits, std::uint32_t mask, std::uint32_t base) {
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(bits), "r"(mask), "r"(base));
  return result;
}
/// a · b + c, rounded once.
DRAFTSCOPE_DEVICE float multiply_add(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}

/// 2 to the power of `value`, in the device's own approximation; subnormal results become 0.
DRAFTSCOPE_DEVICE float exponential_of_two(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// Combines the lower halves of two words into one word, the first word's half below; likewise the upper
/// halves.
DRAFTSCOPE_DEVICE std::uint32_t low_halves(std::uint32_t low, std::uint32_t high) {
  return __byte_perm(low, high, 0x5410);
}
DRAFTSCOPE_DEVICE std::uint32_t high_halves(std::uint32_t low, std::uint32_t high) {
  return __byte_perm(low, high, 0x7632);
}
/// Repeats the lower or upper half of a word in both halves of a word; arithmetic on pairs can read it
/// directly.
DRAFTSCOPE_DEVICE std::uint32_t low_half_twice(std::uint32_t word) {
  std::uint32_t twice;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {low, low}; }" : "=r"(twice) : "r"(word));
  return twice;
}
DRAFTSCOPE_DEVICE std::uint32_t high_half_twice(std::uint32_t word) {
  std::uint32_t twice;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, high}; }"
      : "=r"(twice)
      : "r"(word));
  return twice;
}

DRAFTSCOPE_DEVICE float shuffle_xor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffU, value, mask);
}
DRAFTSCOPE_DEVICE double shuffle_xor(double value, int mask) {
  return __shfl_xor_sync(0xffffffffU, value, mask);
}
DRAFTSCOPE_DEVICE int shuffle_xor(int value, int mask) {
  return __shfl_xor_sync(0xffffffffU, value, mask);
}

/// Counts `n` arrivals and returns how many came before. The arrival publishes what the thread's block wrote
/// before a preceding barrier. A block sees it after a later arrival of its own and a barrier.
DRAFTSCOPE_DEVICE unsigned arrive(unsigned* counter, unsigned n) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(n)
               : "memory");
  return before;
}

/// Loads 16 or 8 bytes of device memory in one instruction, in program order. The compiler may split a plain
/// load into words, or delay it until its use.
template <typename T>
DRAFTSCOPE_DEVICE T load_whole(const T* address) {
  static_assert(sizeof(T) == 16 || sizeof(T) == 8);
  T value;
  auto* words = reinterpret_cast<std::uint32_t*>(&value);
  if constexpr (sizeof(T) == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address));
  else
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(address));
  return value;
}

/// Loads 16 bytes of device or shared memory, or zeros if they are not present, without a branch.
template <typename T>
DRAFTSCOPE_DEVICE T load_if(bool present, const T* address) {
  static_assert(sizeof(T) == 16);
  T value;
  auto* words = reinterpret_cast<std::uint32_t*>(&value);
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0; "
      "@p ld.v4.u32 {%0, %1, %2, %3}, [%4]; }"
      : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
      : "l"(address), "r"(present ? 1 : 0));
  return value;
}

/// Starts a copy of 16 bytes from device memory into shared memory, bypassing the L1 cache; it copies zeros
/// if `present` is false. Copies run while the thread continues and arrive for the thread that started them,
/// in groups: see wait_for_copies(). Until then their destination must be neither read nor written.
DRAFTSCOPE_DEVICE void begin_copy(std::byte* to, const std::byte* from, bool present) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(present ? 16 : 0)
               : "memory");
}
/// Ends a group of copies: all that the thread started since the previous group, possibly none.
DRAFTSCOPE_DEVICE void end_copy_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits for all of the thread's groups except for the last `left`.
template <int left>
DRAFTSCOPE_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/// An mbarrier in shared memory, which counts arrivals and bytes. Its phases alternate in parity; the first
/// has parity 0.
struct alignas(8) CopyBarrier {
  std::uint64_t state;
};
DRAFTSCOPE_DEVICE std::uint32_t shared_address(const void* place) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
}
/// Called by one thread, before a barrier of the block. A phase ends after `arrivals` arrivals and all bytes
/// that are on their way to it.
DRAFTSCOPE_DEVICE void init_barrier(CopyBarrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// Arrivals that begin_piece() makes at a barrier.
#if __CUDA_ARCH__ >= 900
inline constexpr unsigned piece_arrivals = 1;
#else
inline constexpr unsigned piece_arrivals = 32;
#endif
/// Called by all lanes of a warp: starts a copy of `bytes`, a multiple of 16, from device to shared memory,
/// both aligned to 16. The bulk copy engine copies them, or the lanes where there is none. The phase of
/// `filled` ends once the bytes have arrived. They are evicted first from the L2 cache (9.0 and later).
DRAFTSCOPE_DEVICE void begin_piece(std::byte* to, const std::byte* from, unsigned bytes,
                                   CopyBarrier* filled) {
  const std::uint32_t barrier = shared_address(filled);
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x % 32 != 0) return;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
      "[%3], %4;" ::"r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
#else
  for (unsigned at = threadIdx.x % 32 * 16; at < bytes; at += 32 * 16)
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared_address(to + at)),
                 "l"(__cvta_generic_to_global(from + at))
                 : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}
/// Waits until the phase of that parity has ended.
DRAFTSCOPE_DEVICE void wait_for_phase(CopyBarrier* barrier, unsigned parity) {
  while (true) {
    unsigned ended;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
#else
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
#endif
    if (ended != 0) return;
  }
}
/// A hint that requests 32 bytes of device memory into the L2 cache. Nobody waits for them.
DRAFTSCOPE_DEVICE void begin_fetch(const std::byte* from) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
#endif
}
/// Requests `bytes` bytes into the L2 cache, a multiple of 16 from an address aligned to 16.
DRAFTSCOPE_DEVICE void begin_fetch(const std::byte* from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)),
               "r"(bytes));
#endif
}

/// Reads the device's own clock, in nanoseconds.
DRAFTSCOPE_DEVICE std::uint64_t device_clock_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Waits until `n` arrivals have been counted (arrive()) since the counter was 0. This thread then sees what
/// the arriving blocks wrote before, and its block does after a barrier. False after a second.
DRAFTSCOPE_DEVICE bool wait_for_arrivals(const unsigned* counter, unsigned n) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t begin = device_clock_ns();
  for (unsigned looks = 1;; ++looks) {
    unsigned found;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(counter) : "memory");
    if (static_cast<int>(found - n) >= 0) return true;
    if (looks % 1024 == 0 && device_clock_ns() - begin > second) return false;
  }
}

struct Bf16 {
  DRAFTSCOPE_DEVICE static float to_float(std::uint16_t bits) {
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
  }
  DRAFTSCOPE_DEVICE static std::uint16_t from_float(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
  }
  /// `low` goes into the lower half.
  DRAFTSCOPE_DEVICE static std::uint32_t pair_from_floats(float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
  /// a · b + c, and a · b, on two pairs of numbers: rounded once, subnormal numbers kept.
  DRAFTSCOPE_DEVICE static std::uint32_t multiply_add_pairs(std::uint32_t a, std::uint32_t b,
                                                            std::uint32_t c) {
    std::uint32_t result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
  }
  /// Adds −0 to each product, since a plain multiplication instruction needs compute capability 9.0.
  DRAFTSCOPE_DEVICE static std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t minus_zeros = 0x80008000U;
    return multiply_add_pairs(a, b, minus_zeros);
  }
  /// 16 × 8 sums += (16 × 16) · (16 × 8), with fragments as PTX lays them out for mma.m16n8k16.
  DRAFTSCOPE_DEVICE static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                                    std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                                    std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
};

struct F16 {
  DRAFTSCOPE_DEVICE static float to_float(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
  DRAFTSCOPE_DEVICE static std::uint16_t from_float(float value) {
    return __half_as_ushort(__float2half_rn(value));
  }
  DRAFTSCOPE_DEVICE static std::uint32_t pair_from_floats(float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
  DRAFTSCOPE_DEVICE static std::uint32_t multiply_add_pairs(std::uint32_t a, std::uint32_t b,
                                                            std::uint32_t c) {
    std::uint32_t result;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
  }
  DRAFTSCOPE_DEVICE static std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
  }
  DRAFTSCOPE_DEVICE static void multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                                    std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                                    std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
};

}  // namespace draftscope::engine::cuda
