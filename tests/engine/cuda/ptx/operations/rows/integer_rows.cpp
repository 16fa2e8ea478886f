// SPDX-License-Identifier: GPL-3.0-or-later
// Integer arithmetic (PTX ISA 9.0, Integer Arithmetic Instructions).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "operations/rows.h"
#include "operations/type_names.h"

namespace draftscope::ptx {

namespace {

/// Sums and products wrap, of signed numbers too. Of 16 bits they are taken in 32, for C++ widens to signed
/// numbers.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <typename T>
constexpr T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T wrapped_difference(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T low_product(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

// __extension__: C++ itself has no such type.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <typename T>
constexpr T high_product(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}

template <typename T>
struct Twice;
template <>
struct Twice<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct Twice<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct Twice<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct Twice<std::int32_t> {
  using Type = std::int64_t;
};

/// PTX leaves division by zero to the machine: here all bits are set, as on all of NVIDIA's so far.
template <typename T>
constexpr T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return wrapped_difference<T>(0, a);
  return static_cast<T>(a / b);
}
template <typename T>
constexpr T remainder_of(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

void add_sums(Rows& rows) {
  for_integers([&]<typename T>() {
    rows.push_back(row("add." + suffix<T>(), [](T a, T b) { return wrapped_sum(a, b); }));
    rows.push_back(row("sub." + suffix<T>(), [](T a, T b) { return wrapped_difference(a, b); }));
    rows.push_back(row("min." + suffix<T>(), [](T a, T b) { return std::min(a, b); }));
    rows.push_back(row("max." + suffix<T>(), [](T a, T b) { return std::max(a, b); }));
    rows.push_back(row("div." + suffix<T>(), [](T a, T b) { return quotient(a, b); }));
    rows.push_back(row("rem." + suffix<T>(), [](T a, T b) { return remainder_of(a, b); }));
  });
  for_types<std::int16_t, std::int32_t, std::int64_t>([&]<typename T>() {
    rows.push_back(row("neg." + suffix<T>(), [](T a) { return wrapped_difference<T>(0, a); }));
    rows.push_back(row("abs." + suffix<T>(), [](T a) { return a < 0 ? wrapped_difference<T>(0, a) : a; }));
  });
  rows.push_back(row("add.sat.s32", [](std::int32_t a, std::int32_t b) {
    using Limits = std::numeric_limits<std::int32_t>;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} + b, Limits::min(), Limits::max()));
  }));
  rows.push_back(row("sub.sat.s32", [](std::int32_t a, std::int32_t b) {
    using Limits = std::numeric_limits<std::int32_t>;
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} - b, Limits::min(), Limits::max()));
  }));
}

void add_products(Rows& rows) {
  for_integers([&]<typename T>() {
    rows.push_back(row("mul.lo." + suffix<T>(), [](T a, T b) { return low_product(a, b); }));
    rows.push_back(row("mul.hi." + suffix<T>(), [](T a, T b) { return high_product(a, b); }));
    rows.push_back(
        row("mad.lo." + suffix<T>(), [](T a, T b, T c) { return wrapped_sum(low_product(a, b), c); }));
    rows.push_back(
        row("mad.hi." + suffix<T>(), [](T a, T b, T c) { return wrapped_sum(high_product(a, b), c); }));
  });
  for_types<std::uint16_t, std::int16_t, std::uint32_t, std::int32_t>([&]<typename T>() {
    using Wide = typename Twice<T>::Type;
    rows.push_back(row("mul.wide." + suffix<T>(), [](T a, T b) { return low_product<Wide>(a, b); }));
    rows.push_back(row("mad.wide." + suffix<T>(),
                       [](T a, T b, Wide c) { return wrapped_sum<Wide>(low_product<Wide>(a, b), c); }));
  });
}

/// Fields of a register: position and length are taken modulo 256, and what lies beyond the register is left
/// out.
template <typename T>
T extracted_field(T a, std::uint32_t position, std::uint32_t length) {
  using Bits = std::make_unsigned_t<T>;
  constexpr std::uint32_t width = 8 * sizeof(T);
  position &= 0xffU;
  length &= 0xffU;
  // The sign is the field's topmost bit, or the register's if the field reaches past it.
  const std::uint32_t sign_at = std::min(position + length - 1, width - 1);
  const bool is_negative =
      std::is_signed_v<T> && length != 0 && (static_cast<Bits>(a) >> sign_at & Bits{1}) != 0;
  Bits field = is_negative ? static_cast<Bits>(~Bits{0}) : Bits{0};
  for (std::uint32_t i = 0; i < length && i < width && position + i < width; ++i) {
    const Bits bit = Bits{1} << i;
    field = (static_cast<Bits>(a) >> (position + i) & Bits{1}) != 0 ? field | bit : field & ~bit;
  }
  return static_cast<T>(field);
}

template <typename T>
T inserted_field(T a, T b, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  position &= 0xffU;
  length &= 0xffU;
  T result = b;
  for (std::uint32_t i = 0; i < length && i < width && position + i < width; ++i) {
    const T bit = T{1} << (position + i);
    result = (a >> i & T{1}) != 0 ? result | bit : result & ~bit;
  }
  return result;
}

/// Position of the topmost bit that differs from the sign (of unsigned numbers: from zero); all bits set if
/// there is none.
template <typename T>
std::uint32_t topmost_bit(T a) {
  using Bits = std::make_unsigned_t<T>;
  const Bits bits = a < T{0} ? static_cast<Bits>(~static_cast<Bits>(a)) : static_cast<Bits>(a);
  return bits == 0 ? 0xffffffffU : static_cast<std::uint32_t>(std::bit_width(bits) - 1);
}

template <typename T>
T reversed_bits(T a) {
  T result = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i) result |= (a >> i & T{1}) << (8 * sizeof(T) - 1 - i);
  return result;
}

void add_fields(Rows& rows) {
  for_types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t>([&]<typename T>() {
    rows.push_back(row("bfe." + suffix<T>(),
                       [](T a, std::uint32_t b, std::uint32_t c) { return extracted_field(a, b, c); }));
    rows.push_back(row("bfind." + suffix<T>(), [](T a) { return topmost_bit(a); }));
  });
  for_types<std::uint32_t, std::uint64_t>([&]<typename T>() {
    rows.push_back(row("bfi." + bit_suffix<T>(), [](T a, T b, std::uint32_t c, std::uint32_t e) {
      return inserted_field(a, b, c, e);
    }));
    rows.push_back(row("brev." + bit_suffix<T>(), [](T a) { return reversed_bits(a); }));
    rows.push_back(
        row("popc." + bit_suffix<T>(), [](T a) { return static_cast<std::uint32_t>(std::popcount(a)); }));
    rows.push_back(
        row("clz." + bit_suffix<T>(), [](T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }));
  });
}

// ---- Carries: the condition code is a bit a lane.

/// `option`: what reads and writes the carry.
constexpr std::uint8_t reads_carry = 1;
constexpr std::uint8_t writes_carry = 2;

template <typename T, bool subtracts>
void add_with_carry(Warp& warp, const Step& step, Mask lanes) {
  const bool reads = (step.option & reads_carry) != 0;
  const Mask carry_in = reads ? warp.carry : 0;
  const Mask carry_written = reads ? warp.carry_written : all_lanes;
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  const Lanes<T> b = load_lanes<T>(warp, step.b);
  const Mask written = written_lanes(warp, step.a) & written_lanes(warp, step.b) & carry_written;
  Lanes<T> d;
  Mask carry = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    // Subtraction's carry is its borrow.
    const T in = static_cast<T>(carry_in >> i & 1U);
    const UInt128 left = a[i];
    const UInt128 right = UInt128{b[i]} + in;
    d[i] = static_cast<T>(subtracts ? left - right : left + right);
    const bool out = subtracts ? left < right : (left + right) >> (8 * sizeof(T)) != 0;
    carry |= static_cast<Mask>(out) << i;
  }
  store_lanes(warp, step.d, d, lanes);
  note_written(warp, step.d, lanes, written, step.place + 1);
  if ((step.option & writes_carry) == 0) return;
  warp.carry = (warp.carry & ~lanes) | (carry & lanes);
  warp.carry_written = (warp.carry_written & ~lanes) | (written & lanes);
}

void add_carries(Rows& rows) {
  const auto add = [&]<typename T>() {
    const std::vector<Form> forms = {form_of<T>(), form_of<T>(), form_of<T>()};
    for (const std::string& type : {suffix<T>(), suffix<std::make_signed_t<T>>()}) {
      rows.push_back({"add.cc." + type, add_with_carry<T, false>, forms, false, writes_carry});
      rows.push_back({"addc." + type, add_with_carry<T, false>, forms, false, reads_carry});
      rows.push_back({"addc.cc." + type, add_with_carry<T, false>, forms, false, reads_carry | writes_carry});
      rows.push_back({"sub.cc." + type, add_with_carry<T, true>, forms, false, writes_carry});
      rows.push_back({"subc." + type, add_with_carry<T, true>, forms, false, reads_carry});
      rows.push_back({"subc.cc." + type, add_with_carry<T, true>, forms, false, reads_carry | writes_carry});
    }
  };
  for_types<std::uint32_t, std::uint64_t>(add);
}

}  // namespace

void add_integer_rows(Rows& rows) {
  add_sums(rows);
  add_products(rows);
  add_fields(rows);
  add_carries(rows);
}

}  // namespace draftscope::ptx
