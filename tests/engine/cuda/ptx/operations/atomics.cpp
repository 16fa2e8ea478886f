// SPDX-License-Identifier: GPL-3.0-or-later
// atom and red (PTX ISA 9.0, Parallel Synchronization and Communication Instructions). Lanes follow one
// another by number, one of the orders that a device may take. Scopes and orders of memory are accepted and
// mean nothing here, where one instruction follows another.

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/access.h"
#include "operations/memory_steps.h"
#include "operations/rounding.h"

namespace draftscope::ptx {

namespace {

template <typename F, typename T>
void change(Warp& warp, const Step& step, Mask lanes) {
  const Addresses addresses = addresses_of(warp, step, step.a, step.a_bytes, lanes);
  const Lanes<T> b = load_lanes<T>(warp, step.b);
  const Slot third = step.c == 0 ? step.b : step.c;
  const Lanes<T> c = load_lanes<T>(warp, third);
  Lanes<T> before{};
  Mask written = 0;
  for_each_lane(lanes, [&](int lane) {
    const auto at = static_cast<std::size_t>(lane);
    const Place place = place_of(warp, step.space, lane, addresses[at], sizeof(T), Access::atomic);
    std::memcpy(&before[at], place.data, sizeof(T));
    const T after = F{}(before[at], b[at], c[at]);
    std::memcpy(place.data, &after, sizeof(T));
    const bool held =
        std::all_of(place.written, place.written + sizeof(T), [](std::uint8_t is) { return is != 0; });
    const bool holds = held && (written_lanes(warp, step.b) & written_lanes(warp, third)) >> lane & 1U;
    written |= static_cast<Mask>(held) << lane;
    std::memset(place.written, holds ? 1 : 0, sizeof(T));
  });
  count_request(warp, step.space, lanes, addresses, sizeof(T), Access::atomic);
  if (step.d == 0) return;
  store_lanes(warp, step.d, before, lanes);
  note_written(warp, step.d, lanes, written, step.place + 1);
}

template <typename T, typename F>
Execute changing(F) {
  return change<F, T>;
}

template <typename T>
Execute ordered_step(std::string_view operation) {
  using Bits = std::make_unsigned_t<T>;
  if (operation == "add")
    return changing<T>(
        [](T a, T b, T) { return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b)); });
  if (operation == "min") return changing<T>([](T a, T b, T) { return std::min(a, b); });
  if (operation == "max") return changing<T>([](T a, T b, T) { return std::max(a, b); });
  return nullptr;
}

template <typename T>
Execute bits_step(std::string_view operation) {
  if (operation == "and") return changing<T>([](T a, T b, T) { return a & b; });
  if (operation == "or") return changing<T>([](T a, T b, T) { return a | b; });
  if (operation == "xor") return changing<T>([](T a, T b, T) { return a ^ b; });
  if (operation == "exch") return changing<T>([](T, T b, T) { return b; });
  if (operation == "cas") return changing<T>([](T a, T b, T c) { return a == b ? c : a; });
  return nullptr;
}

Execute wrapping_step(std::string_view operation) {
  using Word = std::uint32_t;
  if (operation == "inc") return changing<Word>([](Word a, Word b, Word) { return a >= b ? 0U : a + 1; });
  if (operation == "dec")
    return changing<Word>([](Word a, Word b, Word) { return a == 0 || a > b ? b : a - 1; });
  return nullptr;
}

}  // namespace

Execute atomic_step(std::string_view operation, Type type) {
  switch (type) {
    case Type::u32:
      if (const Execute step = wrapping_step(operation); step != nullptr) return step;
      return ordered_step<std::uint32_t>(operation);
    case Type::s32:
      return ordered_step<std::int32_t>(operation);
    case Type::u64:
      return ordered_step<std::uint64_t>(operation);
    case Type::s64:
      return ordered_step<std::int64_t>(operation);
    case Type::b32:
      return bits_step<std::uint32_t>(operation);
    case Type::b64:
      return bits_step<std::uint64_t>(operation);
    case Type::f32:
      // As PTX says of global memory: subnormal numbers are flushed in none but shared.
      if (operation == "add")
        return changing<float>([](float a, float b, float) { return canonical(a + b); });
      return nullptr;
    case Type::f64:
      if (operation == "add") return changing<double>([](double a, double b, double) { return a + b; });
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace draftscope::ptx
