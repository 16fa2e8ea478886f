// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared memory of a block: which bytes hold a value, and races between warps.
//
// From one barrier of the whole block to the next is an epoch. In one epoch no two warps may touch a byte
// that one of them writes, unless all of them do so by atomics. Lanes of one warp are not held against each
// other: within a warp the order of instructions is taken for enough, which is weaker than PTX asks for
// (bar.warp.sync).
//
// Bytes that a copy is on its way to (cp.async) are nobody's until the lane that issued it has waited for it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace draftscope::ptx {

enum class Touch : std::uint8_t { read, write, atomic };

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : data_(bytes), written_(bytes), units_(bytes / 4 + 1) {}

  [[nodiscard]] std::size_t bytes() const { return data_.size(); }
  [[nodiscard]] std::byte* data() { return data_.data(); }
  /// One byte a byte: 1 if it holds a value.
  [[nodiscard]] std::uint8_t* written() { return written_.data(); }

  void begin_epoch() { ++epoch_; }

  /// Notes an access; returns the other warp where it is a race. `warp` < 64.
  std::optional<int> touch(std::size_t offset, std::size_t bytes, int warp, Touch how);

  /// A copy to these bytes has been issued, or has arrived.
  void expect(std::size_t offset, std::size_t bytes);
  void receive(std::size_t offset, std::size_t bytes);
  /// Whether a copy is on its way to any of these bytes.
  [[nodiscard]] bool awaits(std::size_t offset, std::size_t bytes) const;

 private:
  // Who touched a byte in `epoch`.
  struct Users {
    std::uint32_t epoch = 0;
    std::int8_t writer = nobody;
    std::int8_t reader = nobody;
    std::int8_t atomic = nobody;
  };
  // Four bytes: as one while they are touched together, each for itself from the first that is touched alone.
  struct Unit {
    Users users;
    bool is_split = false;
  };
  static constexpr std::int8_t nobody = -1;
  static constexpr std::int8_t several = 127;

  std::optional<int> touch(Users& users, int warp, Touch how) const;

  std::vector<std::byte> data_;
  std::vector<std::uint8_t> written_;
  std::vector<Unit> units_;
  std::unordered_map<std::size_t, std::array<Users, 4>> split_;
  std::vector<std::uint8_t> awaited_;  // one byte a byte; empty until the first copy
  std::size_t n_awaited_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace draftscope::ptx
