// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions whose results PTX bounds and does not define: ex2, lg2, rcp, rsqrt, sqrt, div, sin, cos, tanh
// with .approx (and div.full).
//
// A device's bits differ from one generation to the next. Here each gives the float nearest to the true value
// (by the host's double precision, whose own error tips a rounding once in 2^28): within every bound that PTX
// states, and equal to no device. What PTX does define is kept: zeros, infinities, NaNs, and that .ftz
// flushes subnormal sources and results.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "operations/rounding.h"
#include "operations/rows.h"

namespace draftscope::ptx {

namespace {

/// A function of a double, as "head.f32" and "head.ftz.f32".
template <typename F>
void add_function(Rows& rows, const std::string& head, F) {
  rows.push_back(
      row(head + ".f32", [](float a) { return canonical(static_cast<float>(F{}(static_cast<double>(a)))); }));
  rows.push_back(row(head + ".ftz.f32", [](float a) {
    return canonical(flushed(static_cast<float>(F{}(static_cast<double>(flushed(a))))));
  }));
}

template <typename F>
void add_quotient(Rows& rows, const std::string& head, F) {
  rows.push_back(row(head + ".f32", [](float a, float b) { return canonical(F{}(a, b)); }));
  rows.push_back(row(head + ".ftz.f32",
                     [](float a, float b) { return canonical(flushed(F{}(flushed(a), flushed(b)))); }));
}

/// div.approx: a · (1/b), with 0 for every |b| above 2^126 that is not divided into an infinity.
float approximate_quotient(float a, float b) {
  constexpr float large = 0x1p126F;
  if (std::fabs(b) > large && std::isfinite(b))
    return std::isinf(a) ? std::nanf("")
                         : std::copysign(0.0F, std::signbit(a) == std::signbit(b) ? 1.0F : -1.0F);
  return a / b;
}

/// The upper words of source and result alone count; subnormal ones are zeros.
double coarse(double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0xffffffff00000000U);
}
double flushed_double(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value) : value;
}

}  // namespace

void add_approximate_rows(Rows& rows) {
  add_function(rows, "ex2.approx", [](double a) { return std::exp2(a); });
  add_function(rows, "lg2.approx", [](double a) { return std::log2(a); });
  add_function(rows, "rcp.approx", [](double a) { return 1.0 / a; });
  add_function(rows, "sqrt.approx", [](double a) { return std::sqrt(a); });
  add_function(rows, "rsqrt.approx", [](double a) { return 1.0 / std::sqrt(a); });
  add_function(rows, "sin.approx", [](double a) { return std::sin(a); });
  add_function(rows, "cos.approx", [](double a) { return std::cos(a); });
  rows.push_back(row("tanh.approx.f32", [](float a) {
    return canonical(static_cast<float>(std::tanh(static_cast<double>(a))));
  }));
  add_quotient(rows, "div.approx", [](float a, float b) { return approximate_quotient(a, b); });
  add_quotient(rows, "div.full", [](float a, float b) { return a / b; });
  rows.push_back(row("rcp.approx.ftz.f64",
                     [](double a) { return coarse(flushed_double(1.0 / flushed_double(coarse(a)))); }));
  rows.push_back(row("rsqrt.approx.ftz.f64", [](double a) {
    return coarse(flushed_double(1.0 / std::sqrt(flushed_double(coarse(a)))));
  }));
}

}  // namespace draftscope::ptx
