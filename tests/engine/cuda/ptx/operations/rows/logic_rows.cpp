// SPDX-License-Identifier: GPL-3.0-or-later
// Logic, shifts, permutation of bytes, plain moves (PTX ISA 9.0, Logic and Shift Instructions; prmt, mov).

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "operations/rows.h"
#include "operations/type_names.h"

namespace draftscope::ptx {

namespace {

/// and, or: one source that decides alone is enough, whether or not the other holds a value.
template <bool deciding>
void decide_predicate(Warp& warp, const Step& step, Mask lanes) {
  const Mask a = load_predicate(warp, step.a);
  const Mask b = load_predicate(warp, step.b);
  const Mask a_written = written_lanes(warp, step.a);
  const Mask b_written = written_lanes(warp, step.b);
  store_predicate(warp, step.d, deciding ? a | b : a & b, lanes);
  const Mask decided = (a_written & (deciding ? a : ~a)) | (b_written & (deciding ? b : ~b));
  const Mask written = (a_written & b_written) | decided;
  // A bit that holds no value may be any; what it would decide wrongly is decided here.
  store_predicate(warp, step.d, deciding ? all_lanes : 0U, lanes & decided);
  std::uint32_t origin = 0;
  if ((written & lanes) != lanes)
    origin = origin_of(warp, first_missing(warp, lanes & ~written, step.a, step.b));
  note_written(warp, step.d, lanes, written, origin);
}

void add_logic(Rows& rows) {
  for_types<std::uint16_t, std::uint32_t, std::uint64_t>([&]<typename T>() {
    rows.push_back(row("and." + bit_suffix<T>(), [](T a, T b) { return static_cast<T>(a & b); }));
    rows.push_back(row("or." + bit_suffix<T>(), [](T a, T b) { return static_cast<T>(a | b); }));
    rows.push_back(row("xor." + bit_suffix<T>(), [](T a, T b) { return static_cast<T>(a ^ b); }));
    rows.push_back(row("not." + bit_suffix<T>(), [](T a) { return static_cast<T>(~a); }));
    rows.push_back(row("cnot." + bit_suffix<T>(), [](T a) { return static_cast<T>(a == 0 ? 1 : 0); }));
  });
  const std::vector<Form> predicates(3, form_of<bool>());
  rows.push_back({"and.pred", decide_predicate<false>, predicates});
  rows.push_back({"or.pred", decide_predicate<true>, predicates});
  rows.push_back(row("xor.pred", [](bool a, bool b) { return a != b; }));
  rows.push_back(row("not.pred", [](bool a) { return !a; }));
}

/// Amounts past the width shift everything out.
template <typename T>
constexpr T shifted_left(T a, std::uint32_t amount) {
  return amount >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << amount);
}
template <typename T>
constexpr T shifted_right(T a, std::uint32_t amount) {
  constexpr std::uint32_t last = 8 * sizeof(T) - 1;
  if (std::is_unsigned_v<T> && amount > last) return 0;
  return static_cast<T>(a >> std::min(amount, last));
}

/// The upper word of {b, a} shifted left, or the lower one of it shifted right.
constexpr std::uint32_t funnel_left(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  return static_cast<std::uint32_t>((both << amount) >> 32U);
}
constexpr std::uint32_t funnel_right(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  return static_cast<std::uint32_t>(both >> amount);
}

void add_shifts(Rows& rows) {
  for_types<std::uint16_t, std::uint32_t, std::uint64_t>([&]<typename T>() {
    using Signed = std::make_signed_t<T>;
    rows.push_back(row("shl." + bit_suffix<T>(), [](T a, std::uint32_t b) { return shifted_left(a, b); }));
    rows.push_back(row("shr." + bit_suffix<T>(), [](T a, std::uint32_t b) { return shifted_right(a, b); }));
    rows.push_back(row("shr." + suffix<T>(), [](T a, std::uint32_t b) { return shifted_right(a, b); }));
    rows.push_back(
        row("shr." + suffix<Signed>(), [](Signed a, std::uint32_t b) { return shifted_right(a, b); }));
  });
  using Word = std::uint32_t;
  rows.push_back(row("shf.l.wrap.b32", [](Word a, Word b, Word c) { return funnel_left(a, b, c & 31U); }));
  rows.push_back(row("shf.r.wrap.b32", [](Word a, Word b, Word c) { return funnel_right(a, b, c & 31U); }));
  rows.push_back(
      row("shf.l.clamp.b32", [](Word a, Word b, Word c) { return funnel_left(a, b, std::min(c, 32U)); }));
  rows.push_back(
      row("shf.r.clamp.b32", [](Word a, Word b, Word c) { return funnel_right(a, b, std::min(c, 32U)); }));
  rows.push_back(row("lop3.b32", [](Word a, Word b, Word c, Word table) {
    Word result = 0;
    for (Word i = 0; i < 8; ++i)
      if ((table >> i & 1U) != 0)
        result |= ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
    return result;
  }));
}

/// Byte `selector` & 7 of {b, a}; with bit 3 set its sign, eight times.
constexpr std::uint32_t selected_byte(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  const auto byte = static_cast<std::uint32_t>(both >> (8 * (selector & 7U)) & 0xffU);
  if ((selector & 8U) == 0) return byte;
  return (byte & 0x80U) != 0 ? 0xffU : 0U;
}

template <typename Selectors>
constexpr std::uint32_t permuted(std::uint32_t a, std::uint32_t b, Selectors selector_of) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) result |= selected_byte(a, b, selector_of(i)) << (8 * i);
  return result;
}

void add_permutations(Rows& rows) {
  using Word = std::uint32_t;
  rows.push_back(row("prmt.b32", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return c >> (4 * i) & 15U; });
  }));
  rows.push_back(row("prmt.b32.f4e", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return ((c & 3U) + i) & 7U; });
  }));
  rows.push_back(row("prmt.b32.b4e", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return ((c & 3U) - i) & 7U; });
  }));
  rows.push_back(row("prmt.b32.rc8",
                     [](Word a, Word b, Word c) { return permuted(a, b, [c](Word) { return c & 3U; }); }));
  rows.push_back(row("prmt.b32.ecl", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return std::max(c & 3U, i); });
  }));
  rows.push_back(row("prmt.b32.ecr", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return std::min(c & 3U, i); });
  }));
  rows.push_back(row("prmt.b32.rc16", [](Word a, Word b, Word c) {
    return permuted(a, b, [c](Word i) { return (c & 1U) * 2 + (i & 1U); });
  }));
}

void add_moves(Rows& rows) {
  for_types<std::uint16_t, std::uint32_t, std::uint64_t>([&]<typename T>() {
    for (const std::string& type : {bit_suffix<T>(), suffix<T>(), suffix<std::make_signed_t<T>>()})
      rows.push_back(row("mov." + type, [](T a) { return a; }));
  });
  rows.push_back(row("mov.f32", [](float a) { return a; }));
  rows.push_back(row("mov.f64", [](double a) { return a; }));
  rows.push_back(row("mov.pred", [](bool a) { return a; }));
}

}  // namespace

void add_logic_rows(Rows& rows) {
  add_logic(rows);
  add_shifts(rows);
  add_permutations(rows);
  add_moves(rows);
}

}  // namespace draftscope::ptx
