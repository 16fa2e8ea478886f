// SPDX-License-Identifier: GPL-3.0-or-later
// Branches, ends, barriers, and what changes nothing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "operations/lanes.h"
#include "operations/opcode_parts.h"
#include "run/fault.h"

namespace draftscope::ptx {

namespace {

using Kind = Operand::Kind;

void trap(Warp&, const Step&, Mask lanes) {
  throw Fault{__builtin_ctz(lanes), "reaches trap, expected the kernel not to give up"};
}

constexpr std::string_view set_condition_name = "cudaGraphSetConditional";

/// cudaGraphSetConditional(handle, value): of one thread, for calls at once have no meaning.
void set_condition(Warp& warp, const Step& step, Mask lanes) {
  const int lane = __builtin_ctz(lanes);
  if ((lanes & (lanes - 1)) != 0)
    raise(lane, "lanes {:#x} set a graph's condition, expected one thread", lanes);
  if (first_missing(warp, lanes, step.a, step.b) != 0)
    raise(lane, "a graph's condition from a value that nobody wrote, expected one that was written");
  const std::uint64_t handle = lane_bits(warp, step.a, sizeof(std::uint64_t), lane);
  const bool value = lane_bits(warp, step.b, sizeof(std::uint32_t), lane) != 0;
  const SetCondition set = warp.block->grid->set_condition;
  if (set == nullptr || !set(handle, value))
    raise(lane, "condition {:#x}, expected that of a graph's node", handle);
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

/// call{.uni} of the one function that is known.
Result<void> decode_call(Decoder& decoder, const Instruction& instruction, Step& step) {
  Modifiers modifiers(instruction.spelling);
  modifiers.take("uni");
  DRAFTSCOPE_TRY(expect_no_more(modifiers));
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.empty() || operands[0].kind != Kind::function || operands[0].name != set_condition_name)
    return fail("found another function, expected {}", set_condition_name);
  DRAFTSCOPE_TRY(expect_operands(instruction, 3, 3));
  DRAFTSCOPE_TRY_ASSIGN(step.a, decoder.source(operands[1], form_of<std::uint64_t>()));
  DRAFTSCOPE_TRY_ASSIGN(step.b, decoder.source(operands[2], form_of<std::uint32_t>()));
  step.execute = set_condition;
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
  if (!is_fence && !is("nanosleep.u32") && !is("setmaxnreg.inc.sync.aligned.u32") &&
      !is("setmaxnreg.dec.sync.aligned.u32"))
    return fail("found other modifiers, expected a known fence or hint");
  step.execute = nothing;
  return {};
}

Result<void> decode_trap(Decoder&, const Instruction& instruction, Step& step) {
  step.execute = trap;
  return expect_operands(instruction, 0, 0);
}

}  // namespace draftscope::ptx
