// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic on f16 and bf16, single and in pairs (PTX ISA 9.0, Half Precision Floating-Point Instructions):
// each result is the exact one, rounded once. A pair's first value is in the lower half.

#include <cmath>
#include <cstdint>
#include <string>

#include "operations/narrow_floats.h"
#include "operations/rows.h"

namespace draftscope::ptx {

namespace {

using Half = std::uint16_t;
using Pair = std::uint32_t;

struct F16Format {
  static double value(std::uint32_t bits) {
    return static_cast<double>(f16_to_float(static_cast<Half>(bits)));
  }
  static Half bits(double value) { return static_cast<Half>(narrowed(value, f16_format)); }
};
struct Bf16Format {
  static double value(std::uint32_t bits) {
    return static_cast<double>(bf16_to_float(static_cast<Half>(bits)));
  }
  static Half bits(double value) { return static_cast<Half>(narrowed(value, bf16_format)); }
};

template <typename F>
Pair of_halves(F compute) {
  return static_cast<Pair>(compute(0U)) | static_cast<Pair>(compute(16U)) << 16U;
}

/// `compute` of doubles that hold the sources exactly gives a double that rounds as the exact result does.
template <typename Format, typename F>
void add_binary(Rows& rows, const std::string& head, const std::string& type, F) {
  rows.push_back(row(head + "." + type,
                     [](Half a, Half b) { return Format::bits(F{}(Format::value(a), Format::value(b))); }));
  rows.push_back(row(head + "." + type + "x2", [](Pair a, Pair b) {
    return of_halves([&](std::uint32_t at) {
      return Format::bits(F{}(Format::value(a >> at & 0xffffU), Format::value(b >> at & 0xffffU)));
    });
  }));
}

double fused_of(double a, double b, double c) {
  return rounded_to_odd(exact_sum(a * b, c));
}

template <typename Format>
void add_format(Rows& rows, const std::string& type) {
  for (const std::string& rounding : {std::string(), std::string(".rn")}) {
    // A sum of −0 and +0, or of numbers that cancel, is +0; the host's addition is right about both.
    add_binary<Format>(rows, "add" + rounding, type,
                       [](double a, double b) { return rounded_to_odd(exact_sum(a, b)); });
    add_binary<Format>(rows, "sub" + rounding, type,
                       [](double a, double b) { return rounded_to_odd(exact_sum(a, -b)); });
    add_binary<Format>(rows, "mul" + rounding, type, [](double a, double b) { return a * b; });
  }
  rows.push_back(row("fma.rn." + type, [](Half a, Half b, Half c) {
    return Format::bits(fused_of(Format::value(a), Format::value(b), Format::value(c)));
  }));
  rows.push_back(row("fma.rn." + type + "x2", [](Pair a, Pair b, Pair c) {
    return of_halves([&](std::uint32_t at) {
      return Format::bits(fused_of(Format::value(a >> at & 0xffffU), Format::value(b >> at & 0xffffU),
                                   Format::value(c >> at & 0xffffU)));
    });
  }));
  rows.push_back(row("neg." + type, [](Half a) { return static_cast<Half>(a ^ 0x8000U); }));
  rows.push_back(row("abs." + type, [](Half a) { return static_cast<Half>(a & 0x7fffU); }));
  rows.push_back(row("neg." + type + "x2", [](Pair a) { return a ^ 0x80008000U; }));
  rows.push_back(row("abs." + type + "x2", [](Pair a) { return a & 0x7fff7fffU; }));
}

}  // namespace

void add_narrow_float_rows(Rows& rows) {
  add_format<F16Format>(rows, "f16");
  add_format<Bf16Format>(rows, "bf16");
}

}  // namespace draftscope::ptx
