// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How operations read and write a warp's registers: all lanes at once, each with the knowledge whether it
// holds a value.
//
// A value that comes from one that nobody wrote is none either, whatever is computed with it; it becomes a
// fault where it decides something (a branch, an address) or leaves for the host. So a copy of a structure's
// padding is harmless.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "run/launch_state.h"
#include "run/program.h"

namespace draftscope::ptx {

template <typename T>
using Lanes = std::array<T, warp_lanes>;

/// Lanes of a slot that hold a value.
inline Mask written_lanes(const Warp& warp, Slot slot) {
  return warp.words[slot];
}

/// The step that a missing value comes from.
inline std::uint32_t origin_of(const Warp& warp, Slot slot) {
  return warp.words[slot + 1];
}

inline const std::byte* lane_bytes(const Warp& warp, Slot slot) {
  return reinterpret_cast<const std::byte*>(warp.words.data() + slot + slot_header);
}
inline std::byte* lane_bytes(Warp& warp, Slot slot) {
  return reinterpret_cast<std::byte*>(warp.words.data() + slot + slot_header);
}

template <typename T>
Lanes<T> load_lanes(const Warp& warp, Slot slot) {
  Lanes<T> values;
  std::memcpy(values.data(), lane_bytes(warp, slot), sizeof values);
  return values;
}

inline Mask load_predicate(const Warp& warp, Slot slot) {
  return warp.words[slot + slot_header];
}

template <>
inline Lanes<bool> load_lanes<bool>(const Warp& warp, Slot slot) {
  const Mask bits = load_predicate(warp, slot);
  Lanes<bool> values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (bits >> i & 1U) != 0;
  return values;
}

/// Notes which of the lanes just stored hold a value, and what the others come from.
inline void note_written(Warp& warp, Slot slot, Mask lanes, Mask written, std::uint32_t origin) {
  warp.words[slot] = (warp.words[slot] & ~lanes) | (written & lanes);
  if ((written & lanes) != lanes) warp.words[slot + 1] = origin;
}

template <typename T>
void store_lanes(Warp& warp, Slot slot, const Lanes<T>& values, Mask lanes) {
  std::byte* const to = lane_bytes(warp, slot);
  if (lanes == all_lanes) {
    std::memcpy(to, values.data(), sizeof values);
    return;
  }
  Lanes<T> mixed;
  std::memcpy(mixed.data(), to, sizeof mixed);
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = (lanes >> i & 1U) != 0 ? values[i] : mixed[i];
  std::memcpy(to, mixed.data(), sizeof mixed);
}

inline void store_predicate(Warp& warp, Slot slot, Mask bits, Mask lanes) {
  std::uint32_t& word = warp.words[slot + slot_header];
  word = (word & ~lanes) | (bits & lanes);
}

template <>
inline void store_lanes<bool>(Warp& warp, Slot slot, const Lanes<bool>& values, Mask lanes) {
  Mask bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) bits |= static_cast<Mask>(values[i]) << i;
  store_predicate(warp, slot, bits, lanes);
}

/// A lane's bits, of a register of `bytes` bytes a lane, without sign.
inline std::uint64_t lane_bits(const Warp& warp, Slot slot, std::size_t bytes, int lane) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, lane_bytes(warp, slot) + bytes * static_cast<std::size_t>(lane), bytes);
  return bits;
}
inline void set_lane_bits(Warp& warp, Slot slot, std::size_t bytes, int lane, std::uint64_t bits) {
  std::memcpy(lane_bytes(warp, slot) + bytes * static_cast<std::size_t>(lane), &bits, bytes);
}

/// Calls `visit(lane)` for each lane of a mask, in order.
template <typename Visit>
void for_each_lane(Mask lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(__builtin_ctz(lanes));
}

/// The slot of those given that lacks a value in one of `lanes`, or 0.
template <typename... Slots>
Slot first_missing(const Warp& warp, Mask lanes, Slots... slots) {
  Slot missing = 0;
  ((missing = missing == 0 && (written_lanes(warp, slots) & lanes) != lanes ? slots : missing), ...);
  return missing;
}

/// Writes down that `d` holds a value where all `sources` do.
template <typename... Slots>
void pass_on_written(Warp& warp, Slot d, Mask lanes, Slots... sources) {
  const Mask written = (all_lanes & ... & written_lanes(warp, sources));
  std::uint32_t origin = 0;
  if ((written & lanes) != lanes) origin = origin_of(warp, first_missing(warp, lanes, sources...));
  note_written(warp, d, lanes, written, origin);
}

}  // namespace draftscope::ptx
