// SPDX-License-Identifier: GPL-3.0-or-later
// ld and st (PTX ISA 9.0, Data Movement and Conversion Instructions).

#include <algorithm>
#include <cstring>

#include "memory/access.h"
#include "operations/memory_steps.h"
#include "run/fault.h"

namespace draftscope::ptx {

Lanes<std::uint64_t> addresses_of(Warp& warp, const Step& step, Slot base, std::size_t base_bytes,
                                  Mask lanes) {
  Lanes<std::uint64_t> addresses{};
  const auto offset = static_cast<std::uint64_t>(step.offset);
  if (base == 0) {
    addresses.fill(offset);
    return addresses;
  }
  const Mask missing = lanes & ~written_lanes(warp, base);
  if (missing != 0)
    raise(__builtin_ctz(missing),
          "an address from a value that nobody wrote{}, expected one that was written",
          origin_of(warp, base) == 0
              ? ""
              : fmt::format(" (PTX line {})",
                            warp.block->grid->program->entry->instructions[origin_of(warp, base) - 1].line));
  if (base_bytes == sizeof(std::uint64_t)) {
    addresses = load_lanes<std::uint64_t>(warp, base);
    for (std::uint64_t& address : addresses) address += offset;
  } else {
    const auto words = load_lanes<std::uint32_t>(warp, base);
    for (std::size_t i = 0; i < addresses.size(); ++i)
      addresses[i] = static_cast<std::uint32_t>(words[i] + static_cast<std::uint32_t>(offset));
  }
  return addresses;
}

namespace {

bool all_written(const std::uint8_t* written, std::size_t bytes) {
  switch (bytes) {
    case 4: {
      std::uint32_t four;
      std::memcpy(&four, written, sizeof four);
      return four == 0x01010101U;
    }
    default:
      return std::all_of(written, written + bytes, [](std::uint8_t is_written) { return is_written != 0; });
  }
}

/// n elements E, one after another, to n registers of lanes R.
template <typename E, typename R>
void load(Warp& warp, const Step& step, Mask lanes) {
  const Addresses addresses = addresses_of(warp, step, step.a, step.a_bytes, lanes);
  const std::span<const Slot> slots = warp.block->grid->program->list(step);
  const std::size_t bytes = sizeof(E) * slots.size();
  const Access access = step.option != 0 ? Access::constant_load : Access::load;
  std::array<std::array<R, warp_lanes>, 8> values;
  std::array<Mask, 8> written{};
  for_each_lane(lanes, [&](int lane) {
    const auto at = static_cast<std::size_t>(lane);
    const Place place = place_of(warp, step.space, lane, addresses[at], bytes, access);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      E element;
      std::memcpy(&element, place.data + i * sizeof(E), sizeof(E));
      values[i][at] = static_cast<R>(element);
      written[i] |= static_cast<Mask>(all_written(place.written + i * sizeof(E), sizeof(E))) << lane;
    }
  });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    store_lanes(warp, slots[i], values[i], lanes);
    note_written(warp, slots[i], lanes, written[i], step.place + 1);
  }
  count_request(warp, step.space, lanes, addresses, bytes, access);
}

template <typename E, typename R>
void store(Warp& warp, const Step& step, Mask lanes) {
  const Addresses addresses = addresses_of(warp, step, step.a, step.a_bytes, lanes);
  const std::span<const Slot> slots = warp.block->grid->program->list(step);
  const std::size_t bytes = sizeof(E) * slots.size();
  std::array<Lanes<R>, 8> values;
  for (std::size_t i = 0; i < slots.size(); ++i) values[i] = load_lanes<R>(warp, slots[i]);
  for_each_lane(lanes, [&](int lane) {
    const auto at = static_cast<std::size_t>(lane);
    const Place place = place_of(warp, step.space, lane, addresses[at], bytes, Access::store);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto element = static_cast<E>(values[i][at]);
      std::memcpy(place.data + i * sizeof(E), &element, sizeof(E));
      const bool is_written = (written_lanes(warp, slots[i]) >> lane & 1U) != 0;
      std::memset(place.written + i * sizeof(E), is_written ? 1 : 0, sizeof(E));
    }
  });
  count_request(warp, step.space, lanes, addresses, bytes, Access::store);
}

template <typename E>
Execute load_of(std::size_t register_bytes) {
  // A signed element fills a wider register with its sign.
  using Wide2 = std::conditional_t<std::is_signed_v<E>, std::int16_t, std::uint16_t>;
  using Wide4 = std::conditional_t<std::is_signed_v<E>, std::int32_t, std::uint32_t>;
  using Wide8 = std::conditional_t<std::is_signed_v<E>, std::int64_t, std::uint64_t>;
  if (register_bytes < sizeof(E)) return nullptr;
  switch (register_bytes) {
    case 2:
      return load<E, Wide2>;
    case 4:
      return load<E, Wide4>;
    default:
      return load<E, Wide8>;
  }
}

template <typename E>
Execute store_of(std::size_t register_bytes) {
  if (register_bytes < sizeof(E)) return nullptr;
  switch (register_bytes) {
    case 2:
      return store<E, std::uint16_t>;
    case 4:
      return store<E, std::uint32_t>;
    default:
      return store<E, std::uint64_t>;
  }
}

}  // namespace

Execute load_step(Type type, std::size_t register_bytes) {
  switch (type_bytes(type)) {
    case 1:
      return is_signed(type) ? load_of<std::int8_t>(register_bytes) : load_of<std::uint8_t>(register_bytes);
    case 2:
      return is_signed(type) ? load_of<std::int16_t>(register_bytes) : load_of<std::uint16_t>(register_bytes);
    case 4:
      return is_signed(type) ? load_of<std::int32_t>(register_bytes) : load_of<std::uint32_t>(register_bytes);
    case 8:
      return load_of<std::uint64_t>(register_bytes);
    default:
      return nullptr;
  }
}

Execute store_step(Type type, std::size_t register_bytes) {
  switch (type_bytes(type)) {
    case 1:
      return store_of<std::uint8_t>(register_bytes);
    case 2:
      return store_of<std::uint16_t>(register_bytes);
    case 4:
      return store_of<std::uint32_t>(register_bytes);
    case 8:
      return store_of<std::uint64_t>(register_bytes);
    default:
      return nullptr;
  }
}

}  // namespace draftscope::ptx
