// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The opcodes of table.h by what they are about, and what their decoding has in common.

#include <draftscope/base/result.h>

#include <cstddef>

#include "operations/table.h"
#include "run/decoder.h"

namespace draftscope::ptx {

// Memory
Result<void> decode_load(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_store(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_atomic(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_copy(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_load_matrices(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_prefetch(Decoder& decoder, const Instruction& instruction, Step& step);
// Registers
Result<void> decode_product(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_move(Decoder& decoder, const Instruction& instruction, Step& step);
// Control
Result<void> decode_branch(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_call(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_leave(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_barrier(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_grid_control(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_nothing(Decoder& decoder, const Instruction& instruction, Step& step);
Result<void> decode_trap(Decoder& decoder, const Instruction& instruction, Step& step);

Result<void> expect_operands(const Instruction& instruction, std::size_t min, std::size_t max);
Result<void> expect_no_more(const Modifiers& modifiers);
/// Takes the next modifier for a type.
Result<Type> take_type(Modifiers& modifiers);
/// Does nothing.
void nothing(Warp& warp, const Step& step, Mask lanes);

}  // namespace draftscope::ptx
