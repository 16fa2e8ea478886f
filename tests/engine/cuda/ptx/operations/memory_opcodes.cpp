// SPDX-License-Identifier: GPL-3.0-or-later
// Loads, stores, atomics and copies: which modifiers they take, and how their operands are written.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "operations/matrix_steps.h"
#include "operations/memory_steps.h"
#include "operations/opcode_parts.h"

namespace draftscope::ptx {

namespace {

using Kind = Operand::Kind;

constexpr std::size_t vector_bytes_max = 16;

void take_any(Modifiers& modifiers, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) modifiers.take(name);
}

/// Hints about caches and the order of memory, which mean nothing here.
void take_hints(Modifiers& modifiers) {
  take_any(modifiers, {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  take_any(modifiers, {"cta", "cluster", "gpu", "sys"});
  take_any(modifiers, {"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  take_any(modifiers, {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                       "L1::no_allocate"});
  take_any(modifiers,
           {"L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"});
}

Space take_space(Modifiers& modifiers) {
  for (const std::string_view name : {"global", "shared", "local", "param", "const", "shared::cta"})
    if (modifiers.take(name)) return *space_of_name(name);
  return Space::generic;
}

/// Registers of a load or store, alone or as a vector.
Result<std::size_t> set_values(Decoder& decoder, const Operand& operand, Type type, std::size_t n,
                               Step& step) {
  const std::vector<Operand> alone = {operand};
  const std::vector<Operand>& operands = operand.kind == Kind::vector ? operand.elements : alone;
  if (operands.size() != n) return fail("found {} values, expected {}", operands.size(), n);
  std::size_t bytes = 0;
  for (const Operand& element : operands) bytes = std::max(bytes, decoder.register_bytes(element));
  if (bytes == 0) bytes = std::max<std::size_t>(type_bytes(type), 2);
  std::vector<Slot> slots;
  for (const Operand& element : operands) {
    DRAFTSCOPE_TRY_ASSIGN(const Decoder::Value value, decoder.value(element, type, bytes));
    if (value.bytes != bytes)
      return fail("found registers of {} and {} bytes, expected one width", value.bytes, bytes);
    slots.push_back(value.slot);
  }
  decoder.set_list(step, slots);
  return bytes;
}

Result<void> set_address(Decoder& decoder, const Operand& operand, Step& step) {
  DRAFTSCOPE_TRY_ASSIGN(const Decoder::Address address, decoder.address(operand));
  step.a = address.slot;
  step.a_bytes = static_cast<std::uint8_t>(address.bytes);
  step.offset = address.offset;
  return {};
}

Result<void> decode_load_or_store(Decoder& decoder, const Instruction& instruction, Step& step, bool loads) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 2, 2));
  Modifiers modifiers(instruction.spelling);
  step.space = take_space(modifiers);
  take_hints(modifiers);
  if (loads && step.space == Space::global && modifiers.take("nc")) step.option = 1;
  std::size_t n = 1;
  for (const std::size_t count : {2, 4, 8})
    if (modifiers.take("v" + std::to_string(count))) n = count;
  DRAFTSCOPE_TRY_ASSIGN(const Type type, take_type(modifiers));
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  if (type == Type::pred || n * type_bytes(type) > vector_bytes_max)
    return fail("found {} values of {} bytes, expected at most {} bytes", n, type_bytes(type),
                vector_bytes_max);
  DRAFTSCOPE_TRY(set_address(decoder, instruction.operands[loads ? 1 : 0], step));
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t bytes,
                        set_values(decoder, instruction.operands[loads ? 0 : 1], type, n, step));
  step.execute = loads ? load_step(type, bytes) : store_step(type, bytes);
  if (step.execute == nullptr)
    return fail("found registers of {} bytes, expected at least {}", bytes, type_bytes(type));
  return {};
}

}  // namespace

Result<void> decode_load(Decoder& decoder, const Instruction& instruction, Step& step) {
  return decode_load_or_store(decoder, instruction, step, true);
}
Result<void> decode_store(Decoder& decoder, const Instruction& instruction, Step& step) {
  return decode_load_or_store(decoder, instruction, step, false);
}

/// atom d, [a], b{, c} or red [a], b.
Result<void> decode_atomic(Decoder& decoder, const Instruction& instruction, Step& step) {
  const bool returns = instruction.spelling.starts_with("atom.");
  const std::size_t first = returns ? 1 : 0;
  DRAFTSCOPE_TRY(expect_operands(instruction, first + 2, first + (returns ? 3 : 2)));
  Modifiers modifiers(instruction.spelling);
  step.space = take_space(modifiers);
  take_hints(modifiers);
  const std::string_view operation = modifiers.take_next();
  DRAFTSCOPE_TRY_ASSIGN(const Type type, take_type(modifiers));
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  step.execute = atomic_step(operation, type);
  const bool takes_two = operation == "cas";
  if (step.execute == nullptr || takes_two != (instruction.operands.size() == first + 3))
    return fail(
        "found .{} of that type and {} operands, expected an atomic operation of operations/atomics.cpp",
        operation, instruction.operands.size());
  DRAFTSCOPE_TRY(set_address(decoder, instruction.operands[first], step));
  const auto bytes = static_cast<std::uint8_t>(type_bytes(type));
  const Form form{.kind = type == Type::f32   ? Form::Kind::f32
                          : type == Type::f64 ? Form::Kind::f64
                                              : Form::Kind::whole,
                  .bytes = bytes};
  DRAFTSCOPE_TRY_ASSIGN(step.b, decoder.source(instruction.operands[first + 1], form));
  if (takes_two) {
    DRAFTSCOPE_TRY_ASSIGN(step.c, decoder.source(instruction.operands[first + 2], form));
  }
  if (returns) {
    DRAFTSCOPE_TRY_ASSIGN(step.d, decoder.destination(instruction.operands[0], form));
  }
  return {};
}

/// cp.async{.ca,.cg}.shared.global [d], [a], size{, source size}; commit_group; wait_group n; wait_all.
Result<void> decode_copy(Decoder& decoder, const Instruction& instruction, Step& step) {
  Modifiers modifiers(instruction.spelling);
  if (!modifiers.take("async")) return fail("found no .async, expected cp.async");
  if (modifiers.take("commit_group")) {
    step.execute = commit_copies;
    DRAFTSCOPE_TRY(expect_operands(instruction, 0, 0));
    return expect_no_more(modifiers);
  }
  if (modifiers.take("wait_all")) {
    step.execute = wait_for_copies;
    step.size = 1;
    DRAFTSCOPE_TRY(expect_operands(instruction, 0, 0));
    return expect_no_more(modifiers);
  }
  if (modifiers.take("wait_group")) {
    DRAFTSCOPE_TRY(expect_operands(instruction, 1, 1));
    if (instruction.operands[0].kind != Kind::integer || instruction.operands[0].value > 255)
      return fail("found no number of groups, expected one below 256");
    step.execute = wait_for_copies;
    step.option = static_cast<std::uint8_t>(instruction.operands[0].value);
    step.size = 0;
    return expect_no_more(modifiers);
  }
  DRAFTSCOPE_TRY(expect_operands(instruction, 3, 4));
  const bool past_first_cache = modifiers.take("cg");
  if (!past_first_cache && !modifiers.take("ca")) return fail("found neither .ca nor .cg, expected one");
  if (take_space(modifiers) != Space::global || take_space(modifiers) != Space::shared)
    return fail("found other spaces, expected .shared.global");
  take_hints(modifiers);
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  const Operand& size = instruction.operands[2];
  const bool is_allowed = size.kind == Kind::integer &&
                          (size.value == 16 || (!past_first_cache && (size.value == 4 || size.value == 8)));
  if (!is_allowed) return fail("found a copy of another size, expected 16 bytes, or 4 or 8 with .ca");
  step.size = static_cast<std::uint8_t>(size.value);
  DRAFTSCOPE_TRY(set_address(decoder, instruction.operands[1], step));
  DRAFTSCOPE_TRY_ASSIGN(const Decoder::Address to, decoder.address(instruction.operands[0]));
  decoder.set_list(step, {to.slot});
  step.d_bytes = static_cast<std::uint8_t>(to.bytes);
  step.second_offset = to.offset;
  if (instruction.operands.size() == 4) {
    DRAFTSCOPE_TRY_ASSIGN(step.b, decoder.source(instruction.operands[3], form_of<std::uint32_t>()));
  }
  step.execute = start_copy;
  return {};
}

/// prefetch.global.L1 or .L2 [a].
Result<void> decode_prefetch(Decoder& decoder, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 1, 1));
  Modifiers modifiers(instruction.spelling);
  if (take_space(modifiers) != Space::global || (!modifiers.take("L2") && !modifiers.take("L1")))
    return fail("found another prefetch, expected prefetch.global.L1 or .L2");
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  DRAFTSCOPE_TRY(set_address(decoder, instruction.operands[0], step));
  step.execute = prefetch;
  return {};
}

Result<void> decode_load_matrices(Decoder& decoder, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 2, 2));
  Modifiers modifiers(instruction.spelling);
  const bool is_known = modifiers.take("sync") && modifiers.take("aligned") && modifiers.take("m8n8");
  std::size_t n = 0;
  for (const std::size_t count : {1, 2, 4})
    if (modifiers.take("x" + std::to_string(count))) n = count;
  step.option = modifiers.take("trans") ? 1 : 0;
  step.space = take_space(modifiers);
  if (!is_known || n == 0 || !modifiers.take("b16") ||
      (step.space != Space::shared && step.space != Space::generic))
    return fail("found other modifiers, expected .sync.aligned.m8n8.x1, .x2 or .x4 of .b16 in shared memory");
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  DRAFTSCOPE_TRY(set_address(decoder, instruction.operands[1], step));
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t bytes,
                        set_values(decoder, instruction.operands[0], Type::b32, n, step));
  if (bytes != 4) return fail("found registers of {} bytes, expected 4", bytes);
  step.execute = load_matrices;
  step.control = Control::meet;
  return {};
}

}  // namespace draftscope::ptx
