// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/decoder.h"

#include <algorithm>
#include <bit>

#include "memory/addresses.h"
#include "operations/table.h"
#include "run/readable_name.h"
#include "run/special_registers.h"

namespace draftscope::ptx {

Modifiers::Modifiers(std::string_view spelling) {
  for (std::size_t at = spelling.find('.'); at != std::string_view::npos;) {
    const std::size_t end = spelling.find('.', at + 1);
    parts_.push_back(spelling.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
    at = end;
  }
}

bool Modifiers::take(std::string_view name) {
  const auto found = std::find(parts_.begin(), parts_.end(), name);
  if (found == parts_.end()) return false;
  parts_.erase(found);
  return true;
}

std::string_view Modifiers::take_next() {
  if (parts_.empty()) return {};
  const std::string_view first = parts_.front();
  parts_.erase(parts_.begin());
  return first;
}

Result<Program> decode(const Module& module, const Entry& entry,
                       std::span<const std::uint64_t> variable_addresses) {
  return Decoder(module, entry, variable_addresses).run();
}

Decoder::Decoder(const Module& module, const Entry& entry, std::span<const std::uint64_t> variable_addresses)
    : module_(module),
      entry_(entry),
      module_addresses_(variable_addresses.begin(), variable_addresses.end()) {
  program_.module = &module;
  program_.entry = &entry;
  program_.name = readable_name(entry.name);
  program_.words = slot_header;  // slot 0 is none
}

Result<Program> Decoder::run() {
  DRAFTSCOPE_TRY(lay_out());
  program_.register_slots.reserve(entry_.registers.size());
  for (const Register& reg : entry_.registers)
    program_.register_slots.push_back(
        new_slot(reg.type == Type::pred ? 0 : std::max<std::size_t>(type_bytes(reg.type), 2)));
  program_.steps.reserve(entry_.instructions.size());
  for (std::size_t i = 0; i < entry_.instructions.size(); ++i) {
    const Instruction& instruction = entry_.instructions[i];
    Result<Step> step = decode_instruction(instruction, i);
    if (!step)
      return fail("{}: PTX line {} ({}): {}", program_.name.substr(0, 80), instruction.line,
                  instruction.spelling.substr(0, 80), step.error().message);
    program_.steps.push_back(*std::move(step));
  }
  return std::move(program_);
}

Slot Decoder::new_slot(std::size_t bytes) {
  const auto made = static_cast<Slot>(program_.words);
  program_.words += slot_header + (bytes == 0 ? 4 : bytes * warp_lanes / 4);
  return made;
}

/// Places of parameters, and of local and shared variables: an external array of shared memory lies behind
/// all others.
Result<void> Decoder::lay_out() {
  const auto placed = [](std::size_t& end, const Variable& variable) {
    const std::size_t begin = (end + variable.align - 1) / variable.align * variable.align;
    end = begin + variable.bytes;
    return begin;
  };
  std::size_t local_end = window_begin;
  std::size_t shared_end = window_begin;
  module_addresses_.resize(module_.variables.size());
  for (const Variable& variable : entry_.variables) {
    std::size_t begin = 0;
    if (variable.space == Space::param) {
      begin = placed(program_.parameter_bytes, variable);
      program_.parameter_offsets.push_back(begin);
    } else if (variable.space == Space::local) {
      begin = placed(local_end, variable);
    } else {
      begin = placed(shared_end, variable);
    }
    entry_addresses_.push_back(begin);
  }
  for (std::size_t i = 0; i < module_.variables.size(); ++i)
    if (module_.variables[i].space == Space::shared && !module_.variables[i].is_external)
      module_addresses_[i] = placed(shared_end, module_.variables[i]);
  constexpr std::size_t launch_alignment = 16;  // of what a launch adds
  const std::size_t external = (shared_end + launch_alignment - 1) / launch_alignment * launch_alignment;
  for (std::size_t i = 0; i < module_.variables.size(); ++i) {
    const Variable& variable = module_.variables[i];
    if (variable.space != Space::shared || !variable.is_external) continue;
    if (variable.align > window_begin)
      return fail("{} is aligned to {}, expected at most {}", variable.name, variable.align, window_begin);
    module_addresses_[i] = (external + variable.align - 1) / variable.align * variable.align;
  }
  program_.static_shared_bytes = external - window_begin;
  program_.local_bytes = local_end - window_begin;
  return {};
}

Result<Step> Decoder::decode_instruction(const Instruction& instruction, std::size_t place) {
  Step step;
  step.place = static_cast<std::uint32_t>(place);
  if (instruction.guard >= 0) {
    step.guard = slot_of(instruction.guard);
    step.guard_is_negated = instruction.guard_is_negated;
  }
  if (const Opcode* opcode = find_opcode(instruction.spelling.substr(0, instruction.spelling.find('.')));
      opcode != nullptr) {
    DRAFTSCOPE_TRY(opcode->decode(*this, instruction, step));
    if (step.execute != nullptr || step.control != Control::none) return step;
  }
  const Row* row = find_row(instruction.spelling);
  if (row == nullptr)
    return fail("found {}, expected an instruction of operations/table.h",
                instruction.spelling.substr(0, 80));
  DRAFTSCOPE_TRY(decode_row(*row, instruction, step));
  return step;
}

Result<void> Decoder::decode_row(const Row& row, const Instruction& instruction, Step& step) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() != row.operands.size())
    return fail("found {} operands, expected {}", operands.size(), row.operands.size());
  step.execute = row.execute;
  step.option = row.option;
  step.control = row.control;
  DRAFTSCOPE_TRY_ASSIGN(step.d, destination(operands[0], row.operands[0]));
  step.d_bytes = static_cast<std::uint8_t>(register_bytes(operands[0]));
  if (operands[0].second >= 0) {
    if (!row.has_second_destination) return fail("found a second destination, expected one");
    step.second = slot_of(operands[0].second);
  }
  Slot last = 0;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(last, source(operands[i], row.operands[i]));
    if (operands[i].is_negated) {
      // The one operation that negates a source asks for it by `negates`.
      if (row.operands[i].kind != Form::Kind::predicate || step.negates)
        return fail("found !, expected none here");
      step.negates = true;
    }
    const std::size_t bytes =
        register_bytes(operands[i]) != 0 ? register_bytes(operands[i]) : row.operands[i].bytes;
    if (i == 1) {
      step.a = last;
      step.a_bytes = static_cast<std::uint8_t>(bytes);
    } else if (i == 2) {
      step.b = last;
      step.b_bytes = static_cast<std::uint8_t>(bytes);
    } else if (i == 3) {
      step.c = last;
    } else {
      set_list(step, {last});
    }
  }
  if (row.control == Control::meet) step.members = last;
  const bool takes_negation =
      instruction.spelling.starts_with("setp.") || instruction.spelling.starts_with("vote.");
  if (step.negates && !takes_negation) return fail("found !, expected none here");
  return {};
}

std::size_t Decoder::register_bytes(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg) return 0;
  const Type type = entry_.registers[static_cast<std::size_t>(operand.index)].type;
  return type == Type::pred ? 0 : std::max<std::size_t>(type_bytes(type), 2);
}

Result<Slot> Decoder::destination(const Operand& operand, const Form& form) {
  if (operand.kind == Operand::Kind::sink) return scratch();
  if (operand.kind != Operand::Kind::reg) return fail("found no register as destination, expected one");
  return source(operand, form);
}

Result<Slot> Decoder::source(const Operand& operand, const Form& form) {
  using Kind = Operand::Kind;
  switch (operand.kind) {
    case Kind::reg: {
      const bool is_predicate = entry_.registers[static_cast<std::size_t>(operand.index)].type == Type::pred;
      const std::size_t bytes = register_bytes(operand);
      if (is_predicate != (form.kind == Form::Kind::predicate))
        return fail("found a {}, expected a {}", is_predicate ? "predicate" : "number",
                    is_predicate ? "number" : "predicate");
      if (!is_predicate && bytes != form.bytes && !(form.may_be_wider && bytes > form.bytes))
        return fail("found a register of {} bytes, expected {}", bytes, form.bytes);
      return slot_of(operand.index);
    }
    case Kind::integer:
      if (form.kind == Form::Kind::predicate) return constant(0, operand.value != 0 ? all_lanes : 0U);
      if (form.kind != Form::Kind::whole) return fail("found an integer, expected a float");
      return constant(form.bytes, operand.value);
    case Kind::f32: {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.value));
      if (form.kind == Form::Kind::f64)
        return constant(8, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
      if (form.bytes != 4) return fail("found a float of 32 bits, expected {} bytes", form.bytes);
      return constant(4, operand.value);
    }
    case Kind::f64:
      if (form.kind == Form::Kind::f32)
        return constant(
            4, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value))));
      if (form.bytes != 8) return fail("found a float of 64 bits, expected {} bytes", form.bytes);
      return constant(8, operand.value);
    case Kind::symbol: {
      if (form.kind != Form::Kind::whole || form.bytes < 4)
        return fail("found an address, expected a number");
      DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t begin, address_of_symbol(operand));
      return constant(form.bytes, begin + operand.value);
    }
    case Kind::special:
      return special(operand.name, form.bytes);
    default:
      return fail("found another kind of operand, expected a register or a number");
  }
}

Result<Decoder::Value> Decoder::value(const Operand& operand, Type type, std::size_t number_bytes) {
  if (operand.kind == Operand::Kind::sink) return Value{scratch(), number_bytes};
  if (operand.kind == Operand::Kind::reg) {
    const std::size_t bytes = register_bytes(operand);
    if (bytes < type_bytes(type))
      return fail("found a register of {} bytes, expected at least {}", bytes, type_bytes(type));
    return Value{slot_of(operand.index), bytes};
  }
  Form form{.bytes = static_cast<std::uint8_t>(number_bytes)};
  if (type == Type::f32) form.kind = Form::Kind::f32;
  if (type == Type::f64) form.kind = Form::Kind::f64;
  DRAFTSCOPE_TRY_ASSIGN(const Slot slot, source(operand, form));
  return Value{slot, number_bytes};
}

Result<std::uint64_t> Decoder::address_of_symbol(const Operand& operand) const {
  return operand.of_module ? module_addresses_[static_cast<std::size_t>(operand.index)]
                           : entry_addresses_[static_cast<std::size_t>(operand.index)];
}

Result<Decoder::Address> Decoder::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::address) return fail("found no address, expected [register + offset]");
  const auto offset = static_cast<std::int64_t>(operand.value);
  if (operand.base == Operand::Base::none) return Address{0, 8, offset};
  if (operand.base == Operand::Base::symbol) {
    DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t begin, address_of_symbol(operand));
    return Address{0, 8, static_cast<std::int64_t>(begin) + offset};
  }
  const Type type = entry_.registers[static_cast<std::size_t>(operand.index)].type;
  if (type == Type::pred || type_bytes(type) < 4)
    return fail("found an address of {} bytes, expected 4 or 8", type_bytes(type));
  return Address{slot_of(operand.index), type_bytes(type), offset};
}

Slot Decoder::constant(std::size_t bytes, std::uint64_t bits) {
  if (bytes > 0 && bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  Slot& slot = constants_[{bytes, bits}];
  if (slot == 0) {
    slot = new_slot(bytes);
    program_.constants.push_back({slot, static_cast<std::uint8_t>(bytes), bits});
  }
  return slot;
}

Slot Decoder::scratch() {
  if (scratch_ == 0) scratch_ = new_slot(8);
  return scratch_;
}

Result<Slot> Decoder::special(std::string_view name, std::size_t bytes) {
  if (!is_special_register(name))
    return fail("found {}, expected a special register of run/special_registers.h", name);
  if (bytes != 4 && bytes != 8) return fail("found {} in {} bytes, expected 4 or 8", name, bytes);
  for (const Special& known : program_.specials)
    if (known.name == name && known.bytes == bytes) return known.slot;
  const Slot slot = new_slot(bytes);
  program_.specials.push_back({slot, static_cast<std::uint8_t>(bytes), name});
  return slot;
}

void Decoder::set_list(Step& step, const std::vector<Slot>& slots) {
  step.list = static_cast<std::uint32_t>(program_.lists.size());
  step.n = static_cast<std::uint16_t>(slots.size());
  program_.lists.insert(program_.lists.end(), slots.begin(), slots.end());
}

}  // namespace draftscope::ptx
