// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a Launch to the kernel it names. A device instantiates visit_kernel() with what launching means to it.

#include <type_traits>
#include <utility>

#include "kernels/pass_ops.h"
#include "kernels/prefill_attention.h"
#include "kernels/quantise.h"
#include "kernels/sampling.h"
#include "kernels/synthetic.h"
#include "launch.h"

namespace draftscope::engine::cuda {

template <typename Format, int columns, int half_outputs, template <typename, int> class Op>
struct ProductKernel {
  using Params = PassParams;
  static constexpr int threads = product_threads;
  /// Blocks that a multiprocessor's registers must hold: the widest keep their sums in more.
  static constexpr int resident_blocks = columns == widest_columns ? 1 : 2;
  DRAFTSCOPE_DEVICE static void run(const PassParams& p) {
    SkinnyProduct<Format, columns, half_outputs, Op<Format, half_outputs>>::run(p);
  }
};

template <typename Element, int head_dim>
struct AttentionKernel {
  using Params = PassParams;
  static constexpr int threads = attention_threads;
  DRAFTSCOPE_DEVICE static void run(const PassParams& p) { Attention<Element, head_dim>::run(p); }
};

template <typename Element, int head_dim>
struct PrefillAttentionKernel {
  using Params = PassParams;
  static constexpr int threads = attention_threads;
  DRAFTSCOPE_DEVICE static void run(const PassParams& p) { PrefillAttention<Element, head_dim>::run(p); }
};

// One struct a kernel whose body is a function.
#define DRAFTSCOPE_KERNEL(Name, Argument, call)                       \
  struct Name {                                                       \
    using Params = Argument;                                          \
    static constexpr int threads = row_threads;                       \
    DRAFTSCOPE_DEVICE static void run(const Argument& p) { call(p); } \
  }
#define DRAFTSCOPE_KERNEL_OF(Name, Argument, call) \
  template <typename T>                            \
  DRAFTSCOPE_KERNEL(Name, Argument, call<T>)

DRAFTSCOPE_KERNEL_OF(LoadInputs, PassParams, load_inputs);
DRAFTSCOPE_KERNEL_OF(NormaliseHeads, PassParams, normalise_heads);
DRAFTSCOPE_KERNEL(AddOutputs, WideParams, add_outputs);
DRAFTSCOPE_KERNEL(FinishHead, PassParams, finish_head);
DRAFTSCOPE_KERNEL(FinishDraftStep, StepParams, finish_draft_step);
DRAFTSCOPE_KERNEL(FinishSampledStep, StepParams, finish_sampled_step);
DRAFTSCOPE_KERNEL(WarpRows, PassParams, warp_rows);
DRAFTSCOPE_KERNEL(JudgeDraft, PassParams, judge_draft);
DRAFTSCOPE_KERNEL(BeginLastToken, PassParams, begin_last_token);
DRAFTSCOPE_KERNEL(BeginVerification, PassParams, begin_verification);
DRAFTSCOPE_KERNEL(KeepStates, StateParams, keep_states);
DRAFTSCOPE_KERNEL(SelectTop, TopParams, select_top);
DRAFTSCOPE_KERNEL(MoveCacheRows, MoveParams, move_cache_rows);
DRAFTSCOPE_KERNEL(MoveStates, BankParams, move_states);
DRAFTSCOPE_KERNEL(CompareStates, BankParams, compare_states);
DRAFTSCOPE_KERNEL_OF(NormaliseRows, WideParams, normalise_rows);
DRAFTSCOPE_KERNEL_OF(FinishWideQkv, WideParams, finish_wide_qkv);
DRAFTSCOPE_KERNEL_OF(FinishWideGate, WideParams, finish_wide_gate);
DRAFTSCOPE_KERNEL_OF(AddWide, WideParams, add_wide);
DRAFTSCOPE_KERNEL_OF(QuantiseRows, QuantiseParams, quantise_rows);
DRAFTSCOPE_KERNEL(WidenRows, QuantiseParams, widen_rows);
DRAFTSCOPE_KERNEL_OF(WidenGroups, QuantiseParams, widen_groups);
DRAFTSCOPE_KERNEL(MakeSynthetic, SyntheticParams, make_synthetic);

#undef DRAFTSCOPE_KERNEL_OF
#undef DRAFTSCOPE_KERNEL

constexpr bool is_layer_product(Kernel kernel) {
  return kernel == Kernel::qkv || kernel == Kernel::output || kernel == Kernel::gate_up ||
         kernel == Kernel::down;
}

/// `visit.template operator()<Kernel>()` for a layer's product of one format.
template <typename Format, typename Visit>
auto visit_layer_product(const Launch& launch, Visit&& visit) {
  const auto with_tile = [&]<int half_outputs, template <typename, int> class Op>() {
    if (launch.columns == 8) return visit.template operator()<ProductKernel<Format, 8, half_outputs, Op>>();
    return visit.template operator()<ProductKernel<Format, 16, half_outputs, Op>>();
  };
  const auto with_op = [&]<template <typename, int> class Op>() {
    if (launch.half_outputs == narrow_half) return with_tile.template operator()<narrow_half, Op>();
    return with_tile.template operator()<tile_half, Op>();
  };
  const auto widest = [&]<template <typename, int> class Op>() {
    return visit.template operator()<ProductKernel<Format, widest_columns, tile_half, Op>>();
  };
  if (launch.columns == widest_columns) {
    switch (launch.kernel) {
      case Kernel::qkv:
        return widest.template operator()<QkvOfNormedRows>();
      case Kernel::output:
        return widest.template operator()<OutputOp>();
      case Kernel::gate_up:
        return widest.template operator()<GateUpOfNormedRows>();
      default:
        return widest.template operator()<DownOp>();
    }
  }
  switch (launch.kernel) {
    case Kernel::qkv:
      return with_op.template operator()<QkvOp>();
    case Kernel::output:
      return with_op.template operator()<OutputOp>();
    case Kernel::gate_up:
      return with_tile.template operator()<tile_half, GateUpOp>();
    default:
      return with_op.template operator()<DownOp>();
  }
}

template <typename Format, typename Visit>
auto visit_product(const Launch& launch, Visit&& visit) {
  if (is_layer_product(launch.kernel)) return visit_layer_product<Format>(launch, std::forward<Visit>(visit));
  // No head is in a format that layers mix with another (head_groups()).
  using Whole =
      std::conditional_t<takes_of<Format> == Takes::all, Format, PlainWeights<typename Format::Activation>>;
  const auto with_op = [&]<template <typename, int> class Op>() {
    if (launch.columns == 8) return visit.template operator()<ProductKernel<Whole, 8, tile_half, Op>>();
    return visit.template operator()<ProductKernel<Whole, 16, tile_half, Op>>();
  };
  if (launch.columns == widest_columns)
    return visit.template operator()<ProductKernel<Whole, widest_columns, tile_half, HeadOfNormedRows>>();
  return with_op.template operator()<HeadOp>();
}

template <template <typename, int> class Attends, typename Element, typename Visit>
auto visit_attention(const Launch& launch, Visit&& visit) {
  switch (launch.head_dim) {
    case 32:
      return visit.template operator()<Attends<Element, 32>>();
    case 64:
      return visit.template operator()<Attends<Element, 64>>();
    case 96:
      return visit.template operator()<Attends<Element, 96>>();
    default:
      return visit.template operator()<Attends<Element, 128>>();
  }
}

/// Kernels whose activations are `Format`'s.
template <typename Format, typename Visit>
auto visit_formatted(const Launch& launch, Visit&& visit) {
  using Element = typename Format::Activation;
  switch (launch.kernel) {
    case Kernel::attention:
      return visit_attention<AttentionKernel, Element>(launch, std::forward<Visit>(visit));
    case Kernel::prefill_attention:
      return visit_attention<PrefillAttentionKernel, Element>(launch, std::forward<Visit>(visit));
    case Kernel::load_inputs:
      return visit.template operator()<LoadInputs<Element>>();
    case Kernel::normalise_heads:
      return visit.template operator()<NormaliseHeads<Element>>();
    case Kernel::normalise_rows:
      return visit.template operator()<NormaliseRows<Element>>();
    case Kernel::finish_wide_qkv:
      return visit.template operator()<FinishWideQkv<PlainWeights<Element>>>();
    case Kernel::finish_wide_gate:
      return visit.template operator()<FinishWideGate<PlainWeights<Element>>>();
    case Kernel::add_wide:
      return visit.template operator()<AddWide<PlainWeights<Element>>>();
    case Kernel::quantise_rows:
      return visit.template operator()<QuantiseRows<Element>>();
    default:
      return visit_product<Format>(launch, std::forward<Visit>(visit));
  }
}

/// A format with groups as a thread takes it that has no others to share scales with.
template <typename Format>
using ByOneThread = std::conditional_t<std::is_same_v<Format, Q4_KWeights>, Q4_KAlone, Format>;

/// Calls visit.template operator()<Format>() of a format with groups.
template <typename Visit>
auto visit_grouped(WeightFormat format, Visit&& visit) {
  switch (format) {
    case WeightFormat::q8_0:
      return visit.template operator()<Q8_0Weights>();
    case WeightFormat::q4_k:
      return visit.template operator()<Q4_KWeights>();
    case WeightFormat::int4:
      return visit.template operator()<Int4Weights<Bf16>>();
    case WeightFormat::int4_f16:
      return visit.template operator()<Int4Weights<F16>>();
    case WeightFormat::fp8_block:
      return visit.template operator()<BlockFp8Weights>();
    default:
      return visit.template operator()<Q4_0Weights>();
  }
}

template <typename Visit>
auto visit_kernel(const Launch& launch, Visit&& visit) {
  switch (launch.kernel) {
    case Kernel::add_outputs:
      return visit.template operator()<AddOutputs>();
    case Kernel::finish_head:
      return visit.template operator()<FinishHead>();
    case Kernel::finish_draft_step:
      return visit.template operator()<FinishDraftStep>();
    case Kernel::finish_sampled_step:
      return visit.template operator()<FinishSampledStep>();
    case Kernel::warp_rows:
      return visit.template operator()<WarpRows>();
    case Kernel::judge_draft:
      return visit.template operator()<JudgeDraft>();
    case Kernel::begin_last_token:
      return visit.template operator()<BeginLastToken>();
    case Kernel::begin_verification:
      return visit.template operator()<BeginVerification>();
    case Kernel::keep_states:
      return visit.template operator()<KeepStates>();
    case Kernel::select_top:
      return visit.template operator()<SelectTop>();
    case Kernel::move_cache_rows:
      return visit.template operator()<MoveCacheRows>();
    case Kernel::move_states:
      return visit.template operator()<MoveStates>();
    case Kernel::compare_states:
      return visit.template operator()<CompareStates>();
    case Kernel::widen_rows:
      return visit.template operator()<WidenRows>();
    case Kernel::widen_groups:
      return visit_grouped(launch.format, [&]<typename Format>() {
        return visit.template operator()<WidenGroups<ByOneThread<Format>>>();
      });
    case Kernel::make_synthetic:
      return visit.template operator()<MakeSynthetic>();
    default:
      break;
  }
  switch (launch.format) {
    case WeightFormat::bf16_beside_groups:
      if (is_layer_product(launch.kernel))
        return visit_layer_product<PlainBesideGroups>(launch, std::forward<Visit>(visit));
      [[fallthrough]];
    case WeightFormat::bf16:
      return visit_formatted<PlainWeights<Bf16>>(launch, std::forward<Visit>(visit));
    case WeightFormat::f16:
      return visit_formatted<PlainWeights<F16>>(launch, std::forward<Visit>(visit));
    case WeightFormat::fp8:
      return visit_formatted<Fp8Weights>(launch, std::forward<Visit>(visit));
    default:
      return visit_grouped(launch.format,
                           [&]<typename Format>() { return visit_formatted<Format>(launch, visit); });
  }
}

}  // namespace draftscope::engine::cuda
