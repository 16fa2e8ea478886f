// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The table of instructions: one row each for those that compute lane by lane, found by their whole spelling;
// and one an opcode for those that move data, branch or wait, whose modifiers and operands have forms of
// their own.

#include <draftscope/base/result.h>

#include <string_view>

#include "operations/row.h"

namespace draftscope::ptx {

class Decoder;

/// Null if there is no such row.
[[nodiscard]] const Row* find_row(std::string_view spelling);

struct Opcode {
  std::string_view name;
  std::string_view meaning;
  /// Fills a step in; fails with what was found and expected.
  Result<void> (*decode)(Decoder& decoder, const Instruction& instruction, Step& step);
};

/// Null if there is no such opcode.
[[nodiscard]] const Opcode* find_opcode(std::string_view name);

}  // namespace draftscope::ptx
