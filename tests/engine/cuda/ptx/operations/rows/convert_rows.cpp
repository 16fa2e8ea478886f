// SPDX-License-Identifier: GPL-3.0-or-later
// Conversions (PTX ISA 9.0, cvt). Registers may be wider than an integer's type: sources are cut, results
// extended by their own sign.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "operations/narrow_floats.h"
#include "operations/rounding.h"
#include "operations/rows.h"
#include "operations/type_names.h"

namespace draftscope::ptx {

namespace {

/// Form of a source or destination: an integer's register may be wider.
template <typename T>
Form convertible() {
  Form form = form_of<T>();
  form.may_be_wider = std::is_integral_v<T>;
  if (sizeof(T) == 1) form.bytes = 1;
  return form;
}

template <typename T>
Lanes<T> load_cut(const Warp& warp, Slot slot, std::size_t bytes) {
  if (bytes == sizeof(T)) return load_lanes<T>(warp, slot);
  Lanes<T> values;
  for (int i = 0; i < warp_lanes; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<T>(lane_bits(warp, slot, bytes, i));
  return values;
}

template <typename T>
void store_extended(Warp& warp, Slot slot, std::size_t bytes, const Lanes<T>& values, Mask lanes) {
  if (bytes == sizeof(T)) return store_lanes(warp, slot, values, lanes);
  for_each_lane(lanes, [&](int lane) {
    const auto extended =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(values[static_cast<std::size_t>(lane)]));
    set_lane_bits(warp, slot, bytes, lane, extended);
  });
}

template <typename F, typename D, typename A>
void convert(Warp& warp, const Step& step, Mask lanes) {
  Lanes<A> a;
  if constexpr (std::is_integral_v<A>)
    a = load_cut<A>(warp, step.a, step.a_bytes);
  else
    a = load_lanes<A>(warp, step.a);
  Lanes<D> d;
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = F{}(a[i]);
  if constexpr (std::is_integral_v<D>)
    store_extended(warp, step.d, step.d_bytes, d, lanes);
  else
    store_lanes(warp, step.d, d, lanes);
  pass_on_written(warp, step.d, lanes, step.a);
}

template <typename D, typename A, typename F>
Row conversion(const std::string& spelling, F) {
  return {spelling, convert<F, D, A>, {convertible<D>(), convertible<A>()}};
}

template <typename Make>
void for_all_integers(Make make) {
  for_types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
            std::int32_t, std::int64_t>(make);
}

/// Out of range the nearest integer there is; a NaN is zero, or, where either side has 64 bits, the sign bit
/// alone.
template <typename D, typename A>
D integer_of(A whole) {
  using Limits = std::numeric_limits<D>;
  if (std::isnan(whole)) {
    const bool is_wide = sizeof(A) == 8 || sizeof(D) == 8;
    return is_wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
  }
  if (whole < static_cast<A>(Limits::min())) return Limits::min();
  // The largest integer may round up to what is no integer of its type.
  if (whole >= std::ldexp(A{1}, Limits::digits)) return Limits::max();
  return static_cast<D>(whole);
}

template <typename A>
void add_to_integers(Rows& rows) {
  for_all_integers([&]<typename D>() {
    const std::string types = "." + suffix<D>() + "." + suffix<A>();
    const auto add = [&](const std::string& rounding, auto rounds) {
      using F = decltype(rounds);
      for (const char* saturation : {"", ".sat"})  // they saturate anyway
        rows.push_back(conversion<D, A>("cvt." + rounding + saturation + types,
                                        [](A a) { return integer_of<D>(F{}(a)); }));
      if constexpr (sizeof(A) == 4)
        rows.push_back(conversion<D, A>("cvt." + rounding + ".ftz" + types,
                                        [](A a) { return integer_of<D>(F{}(flushed(a))); }));
    };
    add("rni", [](A a) { return std::nearbyint(a); });
    add("rzi", [](A a) { return std::trunc(a); });
    add("rmi", [](A a) { return std::floor(a); });
    add("rpi", [](A a) { return std::ceil(a); });
  });
}

template <typename A>
Exact exact_integer(A value) {
  const auto nearest = static_cast<double>(value);
  if constexpr (sizeof(A) < 8) {
    return {nearest, 0.0};
  } else {
    // What the double lost is less than 2^11.
    __extension__ using Wide = __int128;
    return {nearest, static_cast<double>(static_cast<Wide>(value) - static_cast<Wide>(nearest))};
  }
}

template <Rounding rounding>
void add_directed(Rows& rows, const std::string& name) {
  for_all_integers([&]<typename A>() {
    rows.push_back(conversion<float, A>("cvt." + name + ".f32." + suffix<A>(),
                                        [](A a) { return rounded(exact_integer(a), rounding); }));
  });
  rows.push_back(conversion<float, double>("cvt." + name + ".f32.f64", [](double a) {
    return canonical(rounded({a, 0.0}, rounding));
  }));
}

void add_from_integers(Rows& rows) {
  for_all_integers([&]<typename A>() {
    rows.push_back(
        conversion<float, A>("cvt.rn.f32." + suffix<A>(), [](A a) { return static_cast<float>(a); }));
    rows.push_back(
        conversion<double, A>("cvt.rn.f64." + suffix<A>(), [](A a) { return static_cast<double>(a); }));
    for_all_integers([&]<typename D>() {
      rows.push_back(
          conversion<D, A>("cvt." + suffix<D>() + "." + suffix<A>(), [](A a) { return static_cast<D>(a); }));
    });
  });
  add_directed<Rounding::zero>(rows, "rz");
  add_directed<Rounding::down>(rows, "rm");
  add_directed<Rounding::up>(rows, "rp");
}

void add_between_floats(Rows& rows) {
  rows.push_back(conversion<double, float>("cvt.f64.f32", [](float a) { return static_cast<double>(a); }));
  rows.push_back(
      conversion<double, float>("cvt.ftz.f64.f32", [](float a) { return static_cast<double>(flushed(a)); }));
  rows.push_back(
      conversion<float, double>("cvt.rn.f32.f64", [](double a) { return canonical(static_cast<float>(a)); }));
  rows.push_back(conversion<float, double>(
      "cvt.rn.ftz.f32.f64", [](double a) { return canonical(flushed(static_cast<float>(a))); }));
  rows.push_back(conversion<float, float>("cvt.f32.f32", [](float a) { return a; }));
  rows.push_back(conversion<float, float>("cvt.ftz.f32.f32", [](float a) { return flushed(a); }));
  rows.push_back(conversion<float, float>("cvt.sat.f32.f32", [](float a) { return saturated(a); }));
  rows.push_back(
      conversion<float, float>("cvt.ftz.sat.f32.f32", [](float a) { return saturated(flushed(a)); }));
  const auto add = [&](const std::string& rounding, auto rounds) {
    using F = decltype(rounds);
    rows.push_back(
        conversion<float, float>("cvt." + rounding + ".f32.f32", [](float a) { return canonical(F{}(a)); }));
    rows.push_back(conversion<float, float>("cvt." + rounding + ".ftz.f32.f32",
                                            [](float a) { return canonical(F{}(flushed(a))); }));
    rows.push_back(
        conversion<double, double>("cvt." + rounding + ".f64.f64", [](double a) { return F{}(a); }));
  };
  add("rni", [](auto a) { return std::nearbyint(a); });
  add("rzi", [](auto a) { return std::trunc(a); });
  add("rmi", [](auto a) { return std::floor(a); });
  add("rpi", [](auto a) { return std::ceil(a); });
}

// ---- To and from 16 and 8 bits, which lie in untyped registers

using Half = std::uint16_t;
using Pair = std::uint32_t;

/// Two singles as a pair: the first becomes the upper half.
template <typename F>
Row pair_of_singles(const std::string& spelling, F) {
  return row(spelling, [](float a, float b) { return static_cast<Pair>(F{}(a)) << 16U | F{}(b); });
}
template <typename F>
Row bytes_of_singles(const std::string& spelling, F) {
  return row(spelling, [](float a, float b) { return static_cast<Half>(F{}(a) << 8U | F{}(b)); });
}

Half half_to_zero(float a, const NarrowFormat& format) {
  return static_cast<Half>(narrowed(static_cast<double>(a), format, Rounding::zero));
}

void add_halves(Rows& rows) {
  rows.push_back(row("cvt.f32.f16", [](Half a) { return canonical(f16_to_float(a)); }));
  rows.push_back(row("cvt.f32.bf16", [](Half a) { return canonical(bf16_to_float(a)); }));
  rows.push_back(row("cvt.rn.f16.f32", [](float a) { return float_to_f16(a); }));
  rows.push_back(row("cvt.rn.bf16.f32", [](float a) { return float_to_bf16(a); }));
  rows.push_back(row("cvt.rz.f16.f32", [](float a) { return half_to_zero(a, f16_format); }));
  rows.push_back(row("cvt.rz.bf16.f32", [](float a) { return half_to_zero(a, bf16_format); }));
  rows.push_back(pair_of_singles("cvt.rn.f16x2.f32", [](float a) { return float_to_f16(a); }));
  rows.push_back(pair_of_singles("cvt.rn.bf16x2.f32", [](float a) { return float_to_bf16(a); }));
  rows.push_back(pair_of_singles("cvt.rz.f16x2.f32", [](float a) { return half_to_zero(a, f16_format); }));
  rows.push_back(pair_of_singles("cvt.rz.bf16x2.f32", [](float a) { return half_to_zero(a, bf16_format); }));
}

std::uint32_t saturated_byte(float a, const NarrowFormat& format) {
  return narrowed(static_cast<double>(a), format, Rounding::nearest, true);
}
Pair halves_of_bytes(Half a, const NarrowFormat& format) {
  const auto half = [&](std::uint32_t byte) { return narrowed(widened(byte, format), f16_format); };
  return half(a >> 8U & 0xffU) << 16U | half(a & 0xffU);
}

void add_bytes(Rows& rows) {
  rows.push_back(bytes_of_singles("cvt.rn.satfinite.e4m3x2.f32",
                                  [](float a) { return saturated_byte(a, e4m3_format); }));
  rows.push_back(bytes_of_singles("cvt.rn.satfinite.e5m2x2.f32",
                                  [](float a) { return saturated_byte(a, e5m2_format); }));
  rows.push_back(row("cvt.rn.f16x2.e4m3x2", [](Half a) { return halves_of_bytes(a, e4m3_format); }));
  rows.push_back(row("cvt.rn.f16x2.e5m2x2", [](Half a) { return halves_of_bytes(a, e5m2_format); }));
}

}  // namespace

void add_convert_rows(Rows& rows) {
  add_to_integers<float>(rows);
  add_to_integers<double>(rows);
  add_from_integers(rows);
  add_between_floats(rows);
  add_halves(rows);
  add_bytes(rows);
}

}  // namespace draftscope::ptx
