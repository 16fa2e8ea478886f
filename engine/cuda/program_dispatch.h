// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a Launch to the kernel of a program, or of its weights' packing, that it names.

#include <type_traits>
#include <utility>

#include "dispatch.h"
#include "kernels/pack_pieces.h"
#include "kernels/program.h"

namespace draftscope::engine::cuda {

/// Calls visit.template operator()<Format>() of any format.
template <typename Visit>
auto visit_format(WeightFormat format, Visit&& visit) {
  switch (format) {
    case WeightFormat::bf16:
      return visit.template operator()<PlainWeights<Bf16>>();
    case WeightFormat::bf16_beside_groups:
      return visit.template operator()<PlainBesideGroups>();
    case WeightFormat::f16:
      return visit.template operator()<PlainWeights<F16>>();
    case WeightFormat::fp8:
      return visit.template operator()<Fp8Weights>();
    default:
      return visit_grouped(format, std::forward<Visit>(visit));
  }
}

/// `visit.template operator()<Kernel>()` for a kernel that is_of_programs().
template <typename Visit>
auto visit_program(const Launch& launch, Visit&& visit) {
  return visit_format(launch.format, [&]<typename Format>() {
    if (launch.kernel == Kernel::pack_pieces) return visit.template operator()<PackPieces<Format>>();
    // A program's layers in two formats go by the other's name.
    if constexpr (takes_of<Format> == Takes::plain)
      return visit.template operator()<Program<PlainWeights<Bf16>>>();
    else
      return visit.template operator()<Program<Format>>();
  });
}

}  // namespace draftscope::engine::cuda
