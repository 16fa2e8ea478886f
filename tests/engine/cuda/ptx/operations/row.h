// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows of the table of operations: an instruction's whole spelling, its operands, and what it does to a lane.

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operations/lanes.h"

namespace draftscope::ptx {

/// Kind and width of an operand.
struct Form {
  enum class Kind : std::uint8_t { predicate, whole, f32, f64 };
  Kind kind = Kind::whole;
  std::uint8_t bytes = 4;  ///< of a lane
  bool is_signed = false;
  bool may_be_wider = false;  ///< a register of more bytes may hold it
};

struct Row {
  std::string spelling;
  Execute execute = nullptr;
  std::vector<Form> operands;           ///< destination first
  bool has_second_destination = false;  ///< a predicate behind a "|" is taken
  std::uint8_t option = 0;              ///< handed to execute()
  Control control = Control::none;
};

template <typename T>
constexpr Form form_of() {
  if constexpr (std::is_same_v<T, bool>)
    return {.kind = Form::Kind::predicate, .bytes = 0};
  else if constexpr (std::is_same_v<T, float>)
    return {.kind = Form::Kind::f32, .bytes = 4};
  else if constexpr (std::is_same_v<T, double>)
    return {.kind = Form::Kind::f64, .bytes = 8};
  else
    return {.kind = Form::Kind::whole, .bytes = sizeof(T), .is_signed = std::is_signed_v<T>};
}

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename F, typename R, typename... A>
struct Signature<R (F::*)(A...) const> {
  using Result = R;
  static std::vector<Form> forms() { return {form_of<R>(), form_of<A>()...}; }
};

template <typename F, typename Type>
struct EachLane;
template <typename F, typename R, typename A>
struct EachLane<F, R (F::*)(A) const> {
  static void execute(Warp& warp, const Step& step, Mask lanes) {
    const Lanes<A> a = load_lanes<A>(warp, step.a);
    Lanes<R> d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = F{}(a[i]);
    store_lanes(warp, step.d, d, lanes);
    pass_on_written(warp, step.d, lanes, step.a);
  }
};
template <typename F, typename R, typename A, typename B>
struct EachLane<F, R (F::*)(A, B) const> {
  static void execute(Warp& warp, const Step& step, Mask lanes) {
    const Lanes<A> a = load_lanes<A>(warp, step.a);
    const Lanes<B> b = load_lanes<B>(warp, step.b);
    Lanes<R> d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = F{}(a[i], b[i]);
    store_lanes(warp, step.d, d, lanes);
    pass_on_written(warp, step.d, lanes, step.a, step.b);
  }
};
template <typename F, typename R, typename A, typename B, typename C>
struct EachLane<F, R (F::*)(A, B, C) const> {
  static void execute(Warp& warp, const Step& step, Mask lanes) {
    const Lanes<A> a = load_lanes<A>(warp, step.a);
    const Lanes<B> b = load_lanes<B>(warp, step.b);
    const Lanes<C> c = load_lanes<C>(warp, step.c);
    Lanes<R> d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = F{}(a[i], b[i], c[i]);
    store_lanes(warp, step.d, d, lanes);
    pass_on_written(warp, step.d, lanes, step.a, step.b, step.c);
  }
};
/// With a fourth source: the list's only slot.
template <typename F, typename R, typename A, typename B, typename C, typename E>
struct EachLane<F, R (F::*)(A, B, C, E) const> {
  static void execute(Warp& warp, const Step& step, Mask lanes) {
    const Slot fourth = warp.block->grid->program->lists[step.list];
    const Lanes<A> a = load_lanes<A>(warp, step.a);
    const Lanes<B> b = load_lanes<B>(warp, step.b);
    const Lanes<C> c = load_lanes<C>(warp, step.c);
    const Lanes<E> e = load_lanes<E>(warp, fourth);
    Lanes<R> d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = F{}(a[i], b[i], c[i], e[i]);
    store_lanes(warp, step.d, d, lanes);
    pass_on_written(warp, step.d, lanes, step.a, step.b, step.c, fourth);
  }
};

/// A row whose function computes one lane's result from its sources. It is called for all lanes, also those
/// whose result is dropped and whose sources hold anything.
template <typename F>
Row row(std::string spelling, F) {
  return {std::move(spelling), &EachLane<F, decltype(&F::operator())>::execute, Signature<F>::forms()};
}

using Rows = std::vector<Row>;

}  // namespace draftscope::ptx
