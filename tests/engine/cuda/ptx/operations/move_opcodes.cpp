// SPDX-License-Identifier: GPL-3.0-or-later
// Moves that are more than one register to another, and products of matrices: operands that are vectors.

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "operations/matrix_steps.h"
#include "operations/opcode_parts.h"

namespace draftscope::ptx {

namespace {

using Kind = Operand::Kind;

/// Words of the destination are written as words of the source, the first in the lowest bits.
void move_words(Warp& warp, const Step& step, Mask lanes) {
  const std::span<const Slot> parts = warp.block->grid->program->list(step);
  const std::size_t part_bytes = step.size;
  const bool packs = step.a == 0;
  if (packs) {
    Mask written = all_lanes;
    for (const Slot part : parts) written &= written_lanes(warp, part);
    for_each_lane(lanes, [&](int lane) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < parts.size(); ++i)
        bits |= lane_bits(warp, parts[i], part_bytes, lane) << (8 * part_bytes * i);
      set_lane_bits(warp, step.d, step.d_bytes, lane, bits);
    });
    return note_written(warp, step.d, lanes, written, step.place + 1);
  }
  const auto source = load_lanes<std::uint64_t>;
  Lanes<std::uint64_t> bits{};
  if (step.a_bytes == 8)
    bits = source(warp, step.a);
  else
    for_each_lane(lanes, [&](int lane) {
      bits[static_cast<std::size_t>(lane)] = lane_bits(warp, step.a, step.a_bytes, lane);
    });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for_each_lane(lanes, [&](int lane) {
      set_lane_bits(warp, parts[i], part_bytes, lane,
                    bits[static_cast<std::size_t>(lane)] >> (8 * part_bytes * i));
    });
    pass_on_written(warp, parts[i], lanes, step.a);
  }
}

/// Nanoseconds since the device began, one an instruction: any clock that goes on will do.
void read_clock(Warp& warp, const Step& step, Mask lanes) {
  Grid& grid = *warp.block->grid;
  for_each_lane(lanes, [&](int lane) { set_lane_bits(warp, step.d, step.d_bytes, lane, grid.clock_ns); });
  note_written(warp, step.d, lanes, all_lanes, 0);
}

Result<void> decode_vector_move(Decoder& decoder, const Instruction& instruction, Step& step) {
  const bool packs = instruction.operands[1].kind == Kind::vector;
  const Operand& parts = instruction.operands[packs ? 1 : 0];
  const Operand& whole = instruction.operands[packs ? 0 : 1];
  Modifiers modifiers(instruction.spelling);
  DRAFTSCOPE_TRY_ASSIGN(const Type type, take_type(modifiers));
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  const std::size_t bytes = type_bytes(type);
  const std::size_t n = parts.elements.size();
  if ((n != 2 && n != 4) || bytes > 8 || bytes / n < 2 || decoder.register_bytes(whole) != bytes)
    return fail("found {} parts of {} bytes, expected two or four of 2 bytes or more", n, bytes);
  step.size = static_cast<std::uint8_t>(bytes / n);
  std::vector<Slot> slots;
  for (const Operand& part : parts.elements) {
    Form form{.bytes = step.size};
    DRAFTSCOPE_TRY_ASSIGN(const Slot slot,
                          packs ? decoder.source(part, form) : decoder.destination(part, form));
    slots.push_back(slot);
  }
  decoder.set_list(step, slots);
  Form form{.bytes = static_cast<std::uint8_t>(bytes)};
  step.a_bytes = step.d_bytes = form.bytes;
  if (packs) {
    DRAFTSCOPE_TRY_ASSIGN(step.d, decoder.destination(whole, form));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(step.a, decoder.source(whole, form));
  }
  step.execute = move_words;
  return {};
}

}  // namespace

/// Left to the table's rows unless a vector or a clock takes part.
Result<void> decode_move(Decoder& decoder, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 2, 2));
  const Operand& source = instruction.operands[1];
  if (source.kind == Kind::vector || instruction.operands[0].kind == Kind::vector)
    return decode_vector_move(decoder, instruction, step);
  constexpr std::array<std::string_view, 4> clocks = {"%clock", "%clock64", "%globaltimer",
                                                      "%globaltimer_lo"};
  if (source.kind != Kind::special || std::find(clocks.begin(), clocks.end(), source.name) == clocks.end())
    return {};
  const std::size_t bytes = decoder.register_bytes(instruction.operands[0]);
  if (bytes != 4 && bytes != 8)
    return fail("found a clock's destination of {} bytes, expected 4 or 8", bytes);
  DRAFTSCOPE_TRY_ASSIGN(
      step.d, decoder.destination(instruction.operands[0], {.bytes = static_cast<std::uint8_t>(bytes)}));
  step.d_bytes = static_cast<std::uint8_t>(bytes);
  step.execute = read_clock;
  return {};
}

Result<void> decode_product(Decoder& decoder, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 4, 4));
  constexpr std::string_view head = "mma.sync.aligned.";
  const MatrixProduct* product = instruction.spelling.starts_with(head)
                                     ? find_matrix_product(instruction.spelling.substr(head.size()))
                                     : nullptr;
  if (product == nullptr)
    return fail("found no known shape and types, expected a product of operations/matrix_steps.cpp");
  const std::array<std::size_t, 4> words = {4, product->a_words, product->b_words, 4};
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Kind::vector || operand.elements.size() != words[i])
      return fail("found another operand {}, expected a vector of {}", i, words[i]);
    const Form form = i == 0 || i == 3 ? form_of<float>() : form_of<std::uint32_t>();
    for (const Operand& element : operand.elements) {
      DRAFTSCOPE_TRY_ASSIGN(const Slot slot,
                            i == 0 ? decoder.destination(element, form) : decoder.source(element, form));
      slots.push_back(slot);
    }
  }
  decoder.set_list(step, slots);
  step.execute = product->execute;
  step.control = Control::meet;
  return {};
}

}  // namespace draftscope::ptx
