// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Maps a Launch to the kernel that it names. A device passes a visitor to visit_kernel(), which launches the
// kernel.

#include <type_traits>
#include <utility>

#include "kernels/pack_pieces.h"
#include "kernels/prefill_attention.h"
#include "kernels/program.h"
#include "launch.h"

namespace draftscope::engine::cuda {

template <typename Element, int head_dim>
struct PrefillAttentionKernel {
  using Params = WideParams;
  static constexpr int threads = attention_threads;
  DRAFTSCOPE_DEVICE static void run(const WideParams& p) {
    PrefillAttention<Element, head_dim>::run(view_of(p));
  }
};

// Defines one struct per kernel whose body is a function.
#define DRAFTSCOPE_KERNEL(Name, Argument, call)                       \
  struct Name {                                                       \
    using Params = Argument;                                          \
    static constexpr int threads = row_threads;                       \
    DRAFTSCOPE_DEVICE static void run(const Argument& p) { call(p); } \
  }
#define DRAFTSCOPE_KERNEL_OF(Name, Argument, call) \
  template <typename T>                            \
  DRAFTSCOPE_KERNEL(Name, Argument, call<T>)

DRAFTSCOPE_KERNEL_OF(FinishWideQkv, WideParams, finish_wide_qkv);
DRAFTSCOPE_KERNEL_OF(FinishWideGate, WideParams, finish_wide_gate);
DRAFTSCOPE_KERNEL(AddWide, WideParams, add_wide);
DRAFTSCOPE_KERNEL(SelectTop, TopParams, select_top);
DRAFTSCOPE_KERNEL(MoveCacheRows, MoveParams, move_cache_rows);
DRAFTSCOPE_KERNEL(MoveStates, BankParams, move_states);
DRAFTSCOPE_KERNEL(CompareStates, BankParams, compare_states);

#undef DRAFTSCOPE_KERNEL_OF
#undef DRAFTSCOPE_KERNEL

/// Calls visit.template operator()<Format>() for a format.
template <typename Visit>
auto visit_format(KernelFormat format, Visit&& visit) {
  switch (format) {
#define DRAFTSCOPE_CASE(name, Struct, groups, stored) \
  case KernelFormat::name:                            \
    return visit.template operator()<Struct>();
    DRAFTSCOPE_KERNEL_FORMATS(DRAFTSCOPE_CASE)
#undef DRAFTSCOPE_CASE
  }
  return visit.template operator()<PlainWeights<Bf16>>();
}

template <typename Element, typename Visit>
auto visit_prefill_attention(int head_dim, Visit&& visit) {
  switch (head_dim) {
    case 32:
      return visit.template operator()<PrefillAttentionKernel<Element, 32>>();
    case 64:
      return visit.template operator()<PrefillAttentionKernel<Element, 64>>();
    case 96:
      return visit.template operator()<PrefillAttentionKernel<Element, 96>>();
    default:
      return visit.template operator()<PrefillAttentionKernel<Element, 128>>();
  }
}

/// Calls `visit.template operator()<Kernel>()` for the layers' program in a format. Layers in two formats use
/// the program of the format other than bf16_beside_groups.
template <typename Visit>
auto visit_program(KernelFormat format, Visit&& visit) {
  return visit_format(format, [&]<typename Format>() {
    if constexpr (matrix_support<Format> == MatrixSupport::plain_only)
      return visit.template operator()<Program<PlainWeights<Bf16>>>();
    else
      return visit.template operator()<Program<Format>>();
  });
}

/// Visits kernels whose activations have one type.
template <typename Element, typename Visit>
auto visit_wide(const Launch& launch, Visit&& visit) {
  switch (launch.kernel) {
    case Kernel::prefill_attention:
      return visit_prefill_attention<Element>(launch.head_dim, std::forward<Visit>(visit));
    case Kernel::finish_wide_qkv:
      return visit.template operator()<FinishWideQkv<PlainWeights<Element>>>();
    default:
      return visit.template operator()<FinishWideGate<PlainWeights<Element>>>();
  }
}

/// Visits any kernel except for programs.
template <typename Visit>
auto visit_kernel(const Launch& launch, Visit&& visit) {
  switch (launch.kernel) {
    case Kernel::pack_pieces:
      return visit_format(launch.format,
                          [&]<typename Format>() { return visit.template operator()<PackPieces<Format>>(); });
    case Kernel::unpack_pieces:
      return visit_format(launch.format, [&]<typename Format>() {
        return visit.template operator()<UnpackPieces<Format>>();
      });
    case Kernel::add_wide:
      return visit.template operator()<AddWide>();
    case Kernel::select_top:
      return visit.template operator()<SelectTop>();
    case Kernel::move_cache_rows:
      return visit.template operator()<MoveCacheRows>();
    case Kernel::move_states:
      return visit.template operator()<MoveStates>();
    case Kernel::compare_states:
      return visit.template operator()<CompareStates>();
    default:
      return has_f16_activations(launch.format) ? visit_wide<F16>(launch, std::forward<Visit>(visit))
                                                : visit_wide<Bf16>(launch, std::forward<Visit>(visit));
  }
}

}  // namespace draftscope::engine::cuda
