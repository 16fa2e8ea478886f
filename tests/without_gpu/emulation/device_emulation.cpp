// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_emulation.h"

#include <array>
#include <bit>
#include <cmath>

#include "block.h"
#include "device_accesses.h"

#include "cuda/kernels/launch_shape.h"

namespace draftscope::engine::cuda {

int thread_index() {
  return emulation::current->here().thread;
}
int block_index() {
  return emulation::current->here().block;
}
int block_count() {
  return emulation::current->here().blocks;
}
int block_threads() {
  return emulation::current->here().threads;
}
std::byte* shared_memory() {
  return emulation::current->here().shared;
}
void synchronise() {
  emulation::current->wait(emulation::Waits::for_block);
}
void synchronise_lanes() {
  emulation::current->wait(emulation::Waits::for_warp);
}
void begin_copy(std::byte* to, const std::byte* from, bool present) {
  if (present) emulation::note_device_read(from, emulation::copy_bytes);
  emulation::current->begin_copy({to, present ? from : nullptr});
}
void end_copy_group() {
  emulation::current->end_copy_group();
}
void emulation::wait_for_copy_groups(std::size_t left) {
  current->wait_for_copies(left);
}

unsigned arrive(unsigned* counter, unsigned n) {
  emulation::note_device_arrival(counter, n);
  const unsigned before = *counter;
  *counter += n;
  emulation::current->perhaps_pause();
  return before;
}
bool wait_for_arrivals(const unsigned* counter, unsigned n) {
  const bool have_come = emulation::current->wait_for_arrivals(counter, n);
  if (have_come) emulation::note_arrivals_seen(counter, n);
  return have_come;
}

void init_barrier(CopyBarrier* barrier, unsigned arrivals) {
  emulation::current->init_barrier(barrier, arrivals);
}
void begin_piece(std::byte* to, const std::byte* from, unsigned bytes, CopyBarrier* filled) {
  if (thread_index() % warp_threads == 0) emulation::note_device_read(from, bytes);
  emulation::current->begin_piece({to, from, bytes, filled});
}
void wait_for_phase(CopyBarrier* barrier, unsigned parity) {
  emulation::current->wait_for_phase(barrier, parity);
}

std::uint32_t shuffle_xor(std::uint32_t value, int mask) {
  const int lane = thread_index() % warp_threads;
  emulation::current->to_hand_in()[0] = std::bit_cast<float>(value);
  return std::bit_cast<std::uint32_t>(
      emulation::current->exchange()[static_cast<std::size_t>(lane ^ mask)][0]);
}

namespace emulation {

namespace {

template <typename Element>
void multiply_accumulate(float (&sum)[4], const std::array<std::uint32_t, 6>& mine) {
  Words& factors = current->to_hand_in();
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = Element::to_float(static_cast<std::uint16_t>(mine[i / 2] >> (16 * (i % 2))));
  const auto& all = current->exchange();
  const auto lane = static_cast<std::size_t>(thread_index() % warp_threads);
  const std::size_t g = lane / 4;
  const std::size_t t = lane % 4;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t lower = i / 2;  // Row g or g + 8.
    const std::size_t column = t * 2 + i % 2;
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t pair = k % 8 / 2;
      const Words& a = all[g * 4 + pair];
      const Words& b = all[column * 4 + pair];
      sum[i] += a[(k / 8 * 2 + lower) * 2 + k % 2] * b[(4 + k / 8) * 2 + k % 2];
    }
  }
}

}  // namespace

}  // namespace emulation

void Bf16::multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                               std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  emulation::multiply_accumulate<Bf16>(sum, {a0, a1, a2, a3, b0, b1});
}
void F16::multiply_accumulate(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                              std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  emulation::multiply_accumulate<F16>(sum, {a0, a1, a2, a3, b0, b1});
}

std::uint16_t F16::from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14F)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F)));
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + (bits >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>((rounded - 0x38000000U) >> 13));
}

}  // namespace draftscope::engine::cuda
