// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A kernel made ready to run: each instruction a Step with its operands' places and the function that does
// it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "module/module.h"

namespace draftscope::ptx {

/// One bit a lane.
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = 0xffffffffU;
inline constexpr int warp_lanes = 32;

struct Warp;
struct Step;

/// Does a step for the lanes of a mask, which is not empty. Throws Fault (run/fault.h).
using Execute = void (*)(Warp& warp, const Step& step, Mask lanes);

/// Place of a register, constant or special register among a warp's words (Slots). 0 = none.
using Slot = std::uint32_t;

/// A slot is four words, [lanes that hold a value][step that a missing value comes from][unused][unused], and
/// behind them the lanes' values one after another, each as wide as the register: a predicate's are one word
/// of bits.
inline constexpr Slot slot_header = 4;

/// The part of a step that the scheduler does itself.
enum class Control : std::uint8_t {
  none,  ///< execute() does it all
  branch,
  leave,      ///< exit, ret
  barrier,    ///< of the block
  meet,       ///< execute() once all lanes that `members` names are here
  wait_grid,  ///< griddepcontrol.wait
};

struct Step {
  Execute execute = nullptr;
  Slot guard = 0;  ///< 0 = none
  Slot d = 0, a = 0, b = 0, c = 0;
  Slot second = 0;         ///< a second destination, of predicates
  Slot members = 0;        ///< lanes that must meet; 0 = all of the warp's
  std::uint32_t list = 0;  ///< first of n further slots, in Program::lists
  std::uint16_t n = 0;
  std::uint8_t d_bytes = 4, a_bytes = 4, b_bytes = 4;  ///< of a register's lane
  Control control = Control::none;
  bool guard_is_negated = false;
  bool negates = false;     ///< a predicate that is a source
  std::uint8_t option = 0;  ///< meaning is the operation's
  std::uint8_t size = 4;    ///< of an element in memory
  Space space = Space::generic;
  std::int32_t target = 0;         ///< of a branch
  std::int64_t offset = 0;         ///< of an address
  std::int64_t second_offset = 0;  ///< of a copy's destination
  std::uint32_t place = 0;         ///< index of the instruction
};

/// Value of a slot that is the same for all lanes and launches.
struct Constant {
  Slot slot;
  std::uint8_t bytes;  ///< of a lane; 0 = a predicate's
  std::uint64_t bits;
};

/// A special register that the kernel reads.
struct Special {
  Slot slot;
  std::uint8_t bytes;
  std::string_view name;
};

struct Program {
  const Module* module = nullptr;
  const Entry* entry = nullptr;
  std::string name;         ///< for people
  std::vector<Step> steps;  ///< one an instruction
  std::vector<Slot> lists;
  std::vector<Constant> constants;
  std::vector<Special> specials;
  std::vector<Slot> register_slots;  ///< by register
  std::size_t words = 0;             ///< of a warp
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;  ///< of a thread
  std::size_t parameter_bytes = 0;
  std::vector<std::size_t> parameter_offsets;

  [[nodiscard]] std::span<const Slot> list(const Step& step) const {
    return std::span(lists).subspan(step.list, step.n);
  }
};

}  // namespace draftscope::ptx
