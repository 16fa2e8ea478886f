// SPDX-License-Identifier: GPL-3.0-or-later
#include "copy_barriers.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace draftscope::engine::cuda::emulation {

namespace {

/// Marks initialised barriers. Uninitialised shared memory is full of ones and so never has this value.
constexpr std::uint16_t initialised = 0x6d62;

struct State {
  std::uint16_t mark;
  std::uint16_t arrivals;  ///< Arrivals per phase.
  std::uint16_t missing;   ///< Arrivals that this phase still lacks.
  std::uint16_t phase;
};

State state_of(const CopyBarrier* barrier) {
  return std::bit_cast<State>(barrier->state);
}
void set_state(CopyBarrier* barrier, const State& state) {
  barrier->state = std::bit_cast<std::uint64_t>(state);
}

}  // namespace

Fault Pieces::init(CopyBarrier* barrier, unsigned arrivals) {
  constexpr unsigned max_arrivals = 0xffff;
  if (arrivals == 0 || arrivals > max_arrivals) return "a barrier for copies takes no or too many arrivals";
  if (state_of(barrier).mark == initialised) return "a barrier for copies is initialised twice";
  const auto all = static_cast<std::uint16_t>(arrivals);
  set_state(barrier, {initialised, all, all, 0});
  return nullptr;
}

Fault Pieces::check(const CopyBarrier* barrier) {
  return state_of(barrier).mark == initialised ? nullptr : "a barrier for copies was not initialised";
}

Fault Pieces::arrive(CopyBarrier* barrier) const {
  State state = state_of(barrier);
  if (state.missing == 0) return "a phase of a barrier for copies has more arrivals than it takes";
  --state.missing;
  set_state(barrier, state);
  end_phase_if_complete(barrier);
  return nullptr;
}

void Pieces::end_phase_if_complete(CopyBarrier* barrier) const {
  State state = state_of(barrier);
  const auto holds_up = [&](const Begun& begun) {
    return begun.piece.filled == barrier && begun.phase == state.phase && !begun.has_landed;
  };
  if (state.missing != 0 || std::any_of(begun_.begin(), begun_.end(), holds_up)) return;
  state.missing = state.arrivals;
  ++state.phase;
  set_state(barrier, state);
}

bool Pieces::has_ended(const CopyBarrier* barrier, unsigned parity) {
  const State state = state_of(barrier);
  if (state.phase % 2 == parity) return false;
  std::erase_if(begun_, [&](const Begun& begun) {
    return begun.piece.filled == barrier && begun.phase != state.phase;
  });
  return true;
}

Fault Pieces::begin(const Piece& piece) {
  constexpr unsigned alignment = 16;
  const auto places =
      reinterpret_cast<std::uintptr_t>(piece.to) | reinterpret_cast<std::uintptr_t>(piece.from);
  if (places % alignment != 0) return "a piece is not aligned to 16 bytes";
  if (piece.bytes == 0 || piece.bytes % alignment != 0) return "a piece is not a multiple of 16 bytes";
  if (const Fault fault = check(piece.filled)) return fault;
  const auto overlaps = [&](const Begun& begun) {
    return begun.piece.to < piece.to + piece.bytes && piece.to < begun.piece.to + begun.piece.bytes;
  };
  if (std::any_of(begun_.begin(), begun_.end(), overlaps))
    return "a piece is begun where another one comes that nobody has waited for";
  std::memset(piece.to, 0xff, piece.bytes);
  begun_.push_back({piece, state_of(piece.filled).phase});
  return arrive(piece.filled);
}

bool Pieces::land_one(std::minstd_rand& order) {
  const auto is_under_way = [](const Begun& begun) { return !begun.has_landed; };
  auto left = std::count_if(begun_.begin(), begun_.end(), is_under_way);
  if (left == 0) return false;
  left = static_cast<std::ptrdiff_t>(order() % static_cast<unsigned>(left));
  auto found = std::find_if(begun_.begin(), begun_.end(), is_under_way);
  for (; left > 0; --left) found = std::find_if(found + 1, begun_.end(), is_under_way);
  std::memcpy(found->piece.to, found->piece.from, found->piece.bytes);
  found->has_landed = true;
  end_phase_if_complete(found->piece.filled);
  return true;
}

}  // namespace draftscope::engine::cuda::emulation
