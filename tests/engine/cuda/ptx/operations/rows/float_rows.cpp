// SPDX-License-Identifier: GPL-3.0-or-later
// Floating point that IEEE 754 defines (PTX ISA 9.0, Floating-Point Instructions): sums, products, quotients,
// roots, minima.
//
// Subnormal numbers count unless .ftz says otherwise. Single-precision results that are NaNs are 0x7fffffff;
// of double precision, which PTX leaves open, 0xfff8000000000000.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "operations/rounding.h"
#include "operations/rows.h"
#include "operations/type_names.h"

namespace draftscope::ptx {

namespace {

/// `compute` with .ftz, .sat, both or none of them, as rows "head.ftz.sat.f32".
template <typename... A, typename F>
void add_single(Rows& rows, const std::string& head, F compute) {
  const auto finished = [](float value) { return canonical(value); };
  using Finish = decltype(finished);
  rows.push_back(row(head + ".f32", [](A... a) { return Finish{}(F{}(a...)); }));
  rows.push_back(row(head + ".ftz.f32", [](A... a) { return flushed(Finish{}(F{}(flushed(a)...))); }));
  rows.push_back(row(head + ".sat.f32", [](A... a) { return saturated(F{}(a...)); }));
  rows.push_back(row(head + ".ftz.sat.f32", [](A... a) { return saturated(flushed(F{}(flushed(a)...))); }));
  (void)compute;
}

template <Rounding rounding>
void add_rounded(Rows& rows, const std::string& name) {
  add_single<float, float>(rows, "add" + name,
                           [](float a, float b) { return rounded_sum(a, b, exact_sum(a, b), rounding); });
  add_single<float, float>(rows, "sub" + name, [](float a, float b) {
    return rounded_sum(a, -static_cast<double>(b), exact_sum(a, -static_cast<double>(b)), rounding);
  });
  add_single<float, float>(rows, "mul" + name, [](float a, float b) {
    return rounded({static_cast<double>(a) * b, 0.0}, rounding);
  });
  const auto fused = [](float a, float b, float c) {
    const double product = static_cast<double>(a) * b;
    return rounded_sum(product, c, exact_fused(a, b, c), rounding);
  };
  add_single<float, float, float>(rows, "fma" + name, fused);
  add_single<float, float, float>(rows, "mad" + name, fused);
  add_single<float, float>(rows, "div" + name,
                           [](float a, float b) { return rounded(exact_quotient(a, b), rounding); });
  add_single<float>(rows, "rcp" + name, [](float a) { return rounded(exact_quotient(1.0F, a), rounding); });
  add_single<float>(rows, "sqrt" + name, [](float a) { return rounded(exact_root(a), rounding); });
}

/// To nearest even, the host's own rounding; sums and products are rounded so where nothing is said.
void add_nearest(Rows& rows) {
  for (const std::string& name : {std::string(), std::string(".rn")}) {
    add_single<float, float>(rows, "add" + name, [](float a, float b) { return a + b; });
    add_single<float, float>(rows, "sub" + name, [](float a, float b) { return a - b; });
    add_single<float, float>(rows, "mul" + name, [](float a, float b) { return a * b; });
  }
  const auto fused = [](float a, float b, float c) { return std::fma(a, b, c); };
  add_single<float, float, float>(rows, "fma.rn", fused);
  add_single<float, float, float>(rows, "mad.rn", fused);
  add_single<float, float>(rows, "div.rn", [](float a, float b) { return a / b; });
  add_single<float>(rows, "rcp.rn", [](float a) { return 1.0F / a; });
  add_single<float>(rows, "sqrt.rn", [](float a) { return std::sqrt(a); });
}

double canonical_double(double value) {
  return std::isnan(value) ? std::bit_cast<double>(std::uint64_t{0xfff8000000000000}) : value;
}

void add_double(Rows& rows) {
  for (const std::string& name : {std::string(".f64"), std::string(".rn.f64")}) {
    rows.push_back(row("add" + name, [](double a, double b) { return canonical_double(a + b); }));
    rows.push_back(row("sub" + name, [](double a, double b) { return canonical_double(a - b); }));
    rows.push_back(row("mul" + name, [](double a, double b) { return canonical_double(a * b); }));
  }
  const auto fused = [](double a, double b, double c) { return canonical_double(std::fma(a, b, c)); };
  rows.push_back(row("fma.rn.f64", fused));
  rows.push_back(row("mad.rn.f64", fused));
  rows.push_back(row("div.rn.f64", [](double a, double b) { return canonical_double(a / b); }));
  rows.push_back(row("rcp.rn.f64", [](double a) { return canonical_double(1.0 / a); }));
  rows.push_back(row("sqrt.rn.f64", [](double a) { return canonical_double(std::sqrt(a)); }));
}

/// The other one if one is a NaN; −0 is below +0.
template <typename T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T larger(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

void add_extremes(Rows& rows) {
  using Single = float;
  rows.push_back(row("min.f32", [](Single a, Single b) { return canonical(smaller(a, b)); }));
  rows.push_back(row("max.f32", [](Single a, Single b) { return canonical(larger(a, b)); }));
  rows.push_back(
      row("min.ftz.f32", [](Single a, Single b) { return canonical(smaller(flushed(a), flushed(b))); }));
  rows.push_back(
      row("max.ftz.f32", [](Single a, Single b) { return canonical(larger(flushed(a), flushed(b))); }));
  // .NaN: of anything and a NaN a NaN.
  rows.push_back(row("min.NaN.f32", [](Single a, Single b) {
    return canonical(std::isnan(a) || std::isnan(b) ? a + b : smaller(a, b));
  }));
  rows.push_back(row("max.NaN.f32", [](Single a, Single b) {
    return canonical(std::isnan(a) || std::isnan(b) ? a + b : larger(a, b));
  }));
  rows.push_back(row("min.f64", [](double a, double b) { return canonical_double(smaller(a, b)); }));
  rows.push_back(row("max.f64", [](double a, double b) { return canonical_double(larger(a, b)); }));
}

/// Signs alone: of a NaN, too, whose result PTX leaves open.
void add_signs(Rows& rows) {
  rows.push_back(row("neg.f32", [](float a) { return -a; }));
  rows.push_back(row("abs.f32", [](float a) { return std::fabs(a); }));
  rows.push_back(row("neg.ftz.f32", [](float a) { return -flushed(a); }));
  rows.push_back(row("abs.ftz.f32", [](float a) { return std::fabs(flushed(a)); }));
  rows.push_back(row("neg.f64", [](double a) { return -a; }));
  rows.push_back(row("abs.f64", [](double a) { return std::fabs(a); }));
  rows.push_back(row("copysign.f32", [](float a, float b) { return std::copysign(b, a); }));
  rows.push_back(row("copysign.f64", [](double a, double b) { return std::copysign(b, a); }));
  constexpr std::uint32_t infinite = 0x7f800000U;
  rows.push_back(row("testp.finite.f32", [](float a) { return std::isfinite(a); }));
  rows.push_back(row("testp.infinite.f32",
                     [](float a) { return (std::bit_cast<std::uint32_t>(a) & 0x7fffffffU) == infinite; }));
  rows.push_back(row("testp.notanumber.f32", [](float a) { return std::isnan(a); }));
  rows.push_back(row("testp.number.f32", [](float a) { return !std::isnan(a); }));
  rows.push_back(row("testp.normal.f32", [](float a) { return std::isnormal(a); }));
  rows.push_back(row("testp.subnormal.f32", [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; }));
}

}  // namespace

void add_float_rows(Rows& rows) {
  add_nearest(rows);
  add_rounded<Rounding::zero>(rows, ".rz");
  add_rounded<Rounding::down>(rows, ".rm");
  add_rounded<Rounding::up>(rows, ".rp");
  add_double(rows);
  add_extremes(rows);
  add_signs(rows);
}

}  // namespace draftscope::ptx
