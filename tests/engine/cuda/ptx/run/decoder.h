// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a kernel as read to a Program.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "operations/row.h"
#include "run/program.h"

namespace draftscope::ptx {

/// Modifiers of an instruction, behind its opcode; each is taken once.
class Modifiers {
 public:
  explicit Modifiers(std::string_view spelling);
  /// Whether there is one of that name, which is then gone.
  bool take(std::string_view name);
  /// Takes the next one, whatever it is; empty if there is none.
  std::string_view take_next();
  [[nodiscard]] std::string_view next() const { return parts_.empty() ? std::string_view() : parts_.front(); }
  [[nodiscard]] bool empty() const { return parts_.empty(); }

 private:
  std::vector<std::string_view> parts_;
};

/// `variable_addresses`: those of the module's variables, in their order; those in shared memory are laid out
/// here. The module and its entry must outlive the program. Fails with "KERNEL: PTX line N: what was found,
/// what was expected".
[[nodiscard]] Result<Program> decode(const Module& module, const Entry& entry,
                                     std::span<const std::uint64_t> variable_addresses);

/// A kernel on its way to a Program, as the rows of operations/table.h see it.
class Decoder {
 public:
  Decoder(const Module& module, const Entry& entry, std::span<const std::uint64_t> variable_addresses);

  Result<Program> run();

  Result<Slot> source(const Operand& operand, const Form& form);
  Result<Slot> destination(const Operand& operand, const Form& form);
  /// A register or number of a store, or a register of a load ("_" too): its slot and its bytes a lane.
  struct Value {
    Slot slot;
    std::size_t bytes;
  };
  Result<Value> value(const Operand& operand, Type type, std::size_t number_bytes);
  /// Where an address starts from: a register (slot, bytes), or nothing but an offset.
  struct Address {
    Slot slot;
    std::size_t bytes;
    std::int64_t offset;
  };
  Result<Address> address(const Operand& operand);
  /// Bytes of a register's lane; 0 of a predicate's, or of what is no register.
  [[nodiscard]] std::size_t register_bytes(const Operand& operand) const;
  [[nodiscard]] Slot slot_of(std::int32_t index) const {
    return program_.register_slots[static_cast<std::size_t>(index)];
  }
  Slot constant(std::size_t bytes, std::uint64_t bits);
  Slot scratch();
  void set_list(Step& step, const std::vector<Slot>& slots);

 private:
  Result<void> lay_out();
  Result<Step> decode_instruction(const Instruction& instruction, std::size_t place);
  Result<void> decode_row(const Row& row, const Instruction& instruction, Step& step);
  Result<std::uint64_t> address_of_symbol(const Operand& operand) const;
  Result<Slot> special(std::string_view name, std::size_t bytes);
  Slot new_slot(std::size_t bytes);

  const Module& module_;
  const Entry& entry_;
  std::vector<std::uint64_t> module_addresses_;
  std::vector<std::uint64_t> entry_addresses_;
  Program program_;
  std::map<std::pair<std::size_t, std::uint64_t>, Slot> constants_;
  Slot scratch_ = 0;
};

}  // namespace draftscope::ptx
