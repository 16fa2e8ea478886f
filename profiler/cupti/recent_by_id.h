// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A map from ascending ids to values with limited memory: an id stays until another with the same low bits
// arrives, `slots` ids later. That bounds the memory for a recording of any length, and makes reused ids
// safe. CUPTI's 32-bit correlation ids repeat after 2^32 calls, long after the first was forgotten.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::profiler::cupti {

template <typename Value>
class RecentById {
 public:
  explicit RecentById(std::size_t slots) : slots_(std::bit_ceil(slots)) {}

  /// Stores the value of `id`, which must be positive; replaces an earlier value.
  void put(std::uint64_t id, const Value& value) { slots_[place(id)] = {id, value}; }

  /// Value of `id`, which must be positive; a new one if it was never stored or is forgotten.
  [[nodiscard]] Value& at(std::uint64_t id) {
    Slot& slot = slots_[place(id)];
    if (slot.id != id) slot = {id, {}};
    return slot.value;
  }

  /// Null if the id was never stored or is forgotten.
  [[nodiscard]] const Value* find(std::uint64_t id) const {
    const Slot& slot = slots_[place(id)];
    return id != 0 && slot.id == id ? &slot.value : nullptr;
  }

 private:
  struct Slot {
    std::uint64_t id = 0;
    Value value{};
  };
  [[nodiscard]] std::size_t place(std::uint64_t id) const {
    return static_cast<std::size_t>(id) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;
};

}  // namespace draftscope::profiler::cupti
