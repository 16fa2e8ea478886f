// SPDX-License-Identifier: GPL-3.0-or-later
// Branches, ends, barriers, and what changes nothing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "operations/opcode_parts.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

using Kind = Operand::Kind;

void trap(Warp&, const Step&, Mask lanes) {
  throw Fault{__builtin_ctz(lanes), "reaches trap, expected the kernel not to give up"};
}

}  // namespace

void nothing(Warp&, const Step&, Mask) {}

Result<void> decode_branch(Decoder&, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 1, 1));
  Modifiers modifiers(instruction.spelling);
  modifiers.take("uni");
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  if (instruction.operands[0].kind != Kind::label) return fail("found no label, expected one");
  step.control = Control::branch;
  step.target = instruction.operands[0].index;
  return {};
}

Result<void> decode_leave(Decoder&, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 0, 0));
  Modifiers modifiers(instruction.spelling);
  modifiers.take("uni");
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  step.control = Control::leave;
  return {};
}

/// bar.sync n, barrier.sync n, barrier.cta.sync n, all threads of the block; bar.warp.sync members.
Result<void> decode_barrier(Decoder& decoder, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 1, 1));
  Modifiers modifiers(instruction.spelling);
  const Operand& operand = instruction.operands[0];
  if (modifiers.take("warp")) {
    if (!modifiers.take("sync")) return fail("found no .sync, expected bar.warp.sync");
    DRAFTSCOPE_TRY_ASSIGN(step.members, decoder.source(operand, form_of<std::uint32_t>()));
    step.control = Control::meet;
    step.execute = nothing;
    return expect_no_more(modifiers);
  }
  modifiers.take("cta");
  modifiers.take("aligned");
  if (!modifiers.take("sync")) return fail("found no .sync, expected a barrier of all threads of the block");
  constexpr std::uint64_t barriers = 16;
  if (operand.kind != Kind::integer || operand.value >= barriers)
    return fail("found another barrier, expected a number below {}", barriers);
  step.option = static_cast<std::uint8_t>(operand.value);
  step.control = Control::barrier;
  return expect_no_more(modifiers);
}

Result<void> decode_grid_control(Decoder&, const Instruction& instruction, Step& step) {
  DRAFTSCOPE_TRY(expect_operands(instruction, 0, 0));
  Modifiers modifiers(instruction.spelling);
  if (modifiers.take("wait"))
    step.control = Control::wait_grid;
  else if (modifiers.take("launch_dependents"))
    step.execute = nothing;
  else
    return fail("found .{}, expected .wait or .launch_dependents", modifiers.next());
  return expect_no_more(modifiers);
}

/// Orders of memory, hints at what comes and pauses: nothing, where one instruction follows another.
Result<void> decode_nothing(Decoder&, const Instruction& instruction, Step& step) {
  const auto is = [&](std::string_view head) { return instruction.spelling.starts_with(head); };
  constexpr std::array<std::string_view, 14> known = {"membar.cta",        "membar.gl",
                                                      "membar.sys",        "fence.cta",
                                                      "fence.sc.cta",      "fence.sc.gpu",
                                                      "fence.sc.sys",      "fence.acq_rel.cta",
                                                      "fence.acq_rel.gpu", "fence.acq_rel.sys",
                                                      "fence.acquire.gpu", "fence.release.gpu",
                                                      "fence.sc.cluster",  "fence.acq_rel.cluster"};
  const bool is_fence = std::find(known.begin(), known.end(), instruction.spelling) != known.end();
  if (!is_fence && !is("nanosleep.u32") && !is("prefetch.global.L") &&
      !is("setmaxnreg.inc.sync.aligned.u32") && !is("setmaxnreg.dec.sync.aligned.u32"))
    return fail("found other modifiers, expected a known fence or hint");
  step.execute = nothing;
  return {};
}

Result<void> decode_trap(Decoder&, const Instruction& instruction, Step& step) {
  step.execute = trap;
  return expect_operands(instruction, 0, 0);
}

}  // namespace draftscope::ptx
