// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison and selection (PTX ISA 9.0, Comparison and Selection Instructions).

#include <cmath>
#include <cstdint>
#include <string>

#include "operations/rounding.h"
#include "operations/rows.h"
#include "operations/type_names.h"

namespace draftscope::ptx {

namespace {

/// How setp combines a comparison with a predicate.
enum class Combine : std::uint8_t { none, conjunction, disjunction, difference };

Mask combined(Mask compared, Mask other, Combine how) {
  switch (how) {
    case Combine::conjunction:
      return compared & other;
    case Combine::disjunction:
      return compared | other;
    case Combine::difference:
      return compared ^ other;
    default:
      return compared;
  }
}

/// setp{.and, .or, .xor} d|second, a, b{, {!}c}: the second destination takes the comparison's opposite.
template <typename F, typename T>
void compare(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  const Lanes<T> b = load_lanes<T>(warp, step.b);
  Mask is_so = 0;
  for (std::size_t i = 0; i < a.size(); ++i) is_so |= static_cast<Mask>(F{}(a[i], b[i])) << i;
  const auto how = static_cast<Combine>(step.option);
  Slot c = step.a;
  Mask other = 0;
  if (how != Combine::none) {
    c = step.c;
    other = load_predicate(warp, c) ^ (step.negates ? all_lanes : 0U);
  }
  const Mask first = combined(is_so, other, how);
  const Mask opposite = combined(~is_so, other, how);
  store_predicate(warp, step.d, first, lanes);
  pass_on_written(warp, step.d, lanes, step.a, step.b, c);
  if (step.second == 0) return;
  store_predicate(warp, step.second, opposite, lanes);
  pass_on_written(warp, step.second, lanes, step.a, step.b, c);
}

template <typename T, typename F>
void add_comparison(Rows& rows, const std::string& name, const std::string& types, F) {
  const Form predicate = form_of<bool>();
  const std::vector<Form> two = {predicate, form_of<T>(), form_of<T>()};
  const std::vector<Form> three = {predicate, form_of<T>(), form_of<T>(), predicate};
  const std::string head = "setp." + name;
  const auto code = [](Combine how) { return static_cast<std::uint8_t>(how); };
  rows.push_back({head + "." + types, compare<F, T>, two, true, code(Combine::none)});
  rows.push_back({head + ".and." + types, compare<F, T>, three, true, code(Combine::conjunction)});
  rows.push_back({head + ".or." + types, compare<F, T>, three, true, code(Combine::disjunction)});
  rows.push_back({head + ".xor." + types, compare<F, T>, three, true, code(Combine::difference)});
}

template <typename T>
void add_integer_comparisons(Rows& rows, const std::string& type) {
  add_comparison<T>(rows, "eq", type, [](T a, T b) { return a == b; });
  add_comparison<T>(rows, "ne", type, [](T a, T b) { return a != b; });
  add_comparison<T>(rows, "lt", type, [](T a, T b) { return a < b; });
  add_comparison<T>(rows, "le", type, [](T a, T b) { return a <= b; });
  add_comparison<T>(rows, "gt", type, [](T a, T b) { return a > b; });
  add_comparison<T>(rows, "ge", type, [](T a, T b) { return a >= b; });
  if constexpr (std::is_unsigned_v<T>) {
    add_comparison<T>(rows, "lo", type, [](T a, T b) { return a < b; });
    add_comparison<T>(rows, "ls", type, [](T a, T b) { return a <= b; });
    add_comparison<T>(rows, "hi", type, [](T a, T b) { return a > b; });
    add_comparison<T>(rows, "hs", type, [](T a, T b) { return a >= b; });
  }
}

/// A comparison with a NaN is false, also "ne"; those that end in u are true of one.
template <typename T, typename Flush>
void add_float_comparisons(Rows& rows, const std::string& types, Flush) {
  const auto add = [&](const std::string& name, auto compares) {
    using F = decltype(compares);
    add_comparison<T>(rows, name, types, [](T a, T b) { return F{}(Flush{}(a), Flush{}(b)); });
    add_comparison<T>(rows, name + "u", types,
                      [](T a, T b) { return std::isnan(a) || std::isnan(b) || F{}(Flush{}(a), Flush{}(b)); });
  };
  add("eq", [](T a, T b) { return a == b; });
  add("ne", [](T a, T b) { return a < b || a > b; });
  add("lt", [](T a, T b) { return a < b; });
  add("le", [](T a, T b) { return a <= b; });
  add("gt", [](T a, T b) { return a > b; });
  add("ge", [](T a, T b) { return a >= b; });
  add_comparison<T>(rows, "num", types, [](T a, T b) { return !std::isnan(a) && !std::isnan(b); });
  add_comparison<T>(rows, "nan", types, [](T a, T b) { return std::isnan(a) || std::isnan(b); });
}

/// Selection, where what is not selected need hold no value.
template <typename T>
void select(Warp& warp, const Step& step, Mask lanes) {
  const Lanes<T> a = load_lanes<T>(warp, step.a);
  const Lanes<T> b = load_lanes<T>(warp, step.b);
  const Mask first = load_predicate(warp, step.c);
  Lanes<T> d;
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = (first >> i & 1U) != 0 ? a[i] : b[i];
  const Mask written = written_lanes(warp, step.c) &
                       ((first & written_lanes(warp, step.a)) | (~first & written_lanes(warp, step.b)));
  const std::uint32_t origin = (written & lanes) == lanes ? 0 : step.place + 1;
  store_lanes(warp, step.d, d, lanes);
  note_written(warp, step.d, lanes, written, origin);
}

}  // namespace

void add_compare_rows(Rows& rows) {
  for_integers([&]<typename T>() { add_integer_comparisons<T>(rows, suffix<T>()); });
  for_types<std::uint16_t, std::uint32_t, std::uint64_t>([&]<typename T>() {
    add_comparison<T>(rows, "eq", bit_suffix<T>(), [](T a, T b) { return a == b; });
    add_comparison<T>(rows, "ne", bit_suffix<T>(), [](T a, T b) { return a != b; });
    const std::vector<Form> forms = {form_of<T>(), form_of<T>(), form_of<T>(), form_of<bool>()};
    for (const std::string& type : {bit_suffix<T>(), suffix<T>(), suffix<std::make_signed_t<T>>()})
      rows.push_back({"selp." + type, select<T>, forms});
  });
  add_float_comparisons<float>(rows, "f32", [](float a) { return a; });
  add_float_comparisons<float>(rows, "ftz.f32", [](float a) { return flushed(a); });
  add_float_comparisons<double>(rows, "f64", [](double a) { return a; });
  rows.push_back({"selp.f32",
                  select<std::uint32_t>,
                  {form_of<float>(), form_of<float>(), form_of<float>(), form_of<bool>()}});
  rows.push_back({"selp.f64",
                  select<std::uint64_t>,
                  {form_of<double>(), form_of<double>(), form_of<double>(), form_of<bool>()}});
}

}  // namespace draftscope::ptx
