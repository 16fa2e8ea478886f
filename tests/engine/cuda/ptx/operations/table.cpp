// SPDX-License-Identifier: GPL-3.0-or-later
#include "operations/table.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "memory/addresses.h"
#include "operations/opcode_parts.h"
#include "operations/rows.h"

namespace draftscope::ptx {

namespace {

constexpr Opcode opcodes[] = {
    {"ld", "reads memory into a register or a vector of them", decode_load},
    {"st", "writes a register or a vector of them to memory", decode_store},
    {"atom", "changes memory in one piece and returns what was there", decode_atomic},
    {"red", "changes memory in one piece", decode_atomic},
    {"cp", "copies from global to shared memory, to arrive at a wait", decode_copy},
    {"mma", "multiplies matrices whose parts a warp's lanes hold", decode_product},
    {"ldmatrix", "reads matrices of 8 × 8 from shared memory as mma takes them", decode_load_matrices},
    {"mov", "copies a register, or puts one together from parts or apart", decode_move},
    {"bra", "goes on elsewhere", decode_branch},
    {"call", "calls a function of the runtime", decode_call},
    {"ret", "ends the thread", decode_leave},
    {"exit", "ends the thread", decode_leave},
    {"trap", "gives up", decode_trap},
    {"bar", "waits for the block's threads, or for lanes of the warp", decode_barrier},
    {"barrier", "waits for the block's threads", decode_barrier},
    {"griddepcontrol", "waits for the kernels before, or lets the next one start", decode_grid_control},
    {"membar", "orders memory", decode_nothing},
    {"fence", "orders memory", decode_nothing},
    {"nanosleep", "waits a while", decode_nothing},
    {"prefetch", "hints at a later read", decode_prefetch},
    {"setmaxnreg", "changes how many registers a warp has", decode_nothing},
};

// ---- Addresses from one space to another

template <Space space>
void add_address_rows(Rows& rows, const std::string& name) {
  rows.push_back(row("cvta." + name + ".u64", [](std::uint64_t a) { return a + window_of(space); }));
  rows.push_back(row("cvta.to." + name + ".u64", [](std::uint64_t a) { return a - window_of(space); }));
  rows.push_back(row("isspacep." + name, [](std::uint64_t a) { return space_of_address(a) == space; }));
}

/// By spelling.
const Rows& all_rows() {
  static const Rows table = [] {
    Rows rows;
    add_integer_rows(rows);
    add_logic_rows(rows);
    add_float_rows(rows);
    add_approximate_rows(rows);
    add_narrow_float_rows(rows);
    add_compare_rows(rows);
    add_convert_rows(rows);
    add_exchange_rows(rows);
    add_address_rows<Space::global>(rows, "global");
    add_address_rows<Space::shared>(rows, "shared");
    add_address_rows<Space::local>(rows, "local");
    add_address_rows<Space::param>(rows, "param");
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.spelling < b.spelling; });
    return rows;
  }();
  return table;
}

}  // namespace

const Row* find_row(std::string_view spelling) {
  const Rows& rows = all_rows();
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), spelling,
                       [](const Row& each, std::string_view name) { return each.spelling < name; });
  return found == rows.end() || found->spelling != spelling ? nullptr : &*found;
}

const Opcode* find_opcode(std::string_view name) {
  const auto* found = std::find_if(std::begin(opcodes), std::end(opcodes),
                                   [&](const Opcode& opcode) { return opcode.name == name; });
  return found == std::end(opcodes) ? nullptr : found;
}

Result<void> expect_operands(const Instruction& instruction, std::size_t min, std::size_t max) {
  const std::size_t n = instruction.operands.size();
  if (n < min || n > max) return fail("found {} operands, expected {} to {}", n, min, max);
  return {};
}

Result<void> expect_no_more(const Modifiers& modifiers) {
  if (modifiers.empty()) return {};
  return fail("found .{}, expected no such modifier", modifiers.next());
}

Result<Type> take_type(Modifiers& modifiers) {
  const std::string_view name = modifiers.take_next();
  const std::optional<Type> type = type_of_name(name);
  if (!type) return fail("found .{}, expected a type", name);
  return *type;
}

}  // namespace draftscope::ptx
