// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "launch.h"

namespace draftscope::engine::test {

/// Whether ranks that share a model alone launch it (tests/engine/cuda/ranks): one device never does.
inline bool is_of_ranks(cuda::Kernel kernel) {
  using enum cuda::Kernel;
  return kernel == rank_product || kernel == sum_own_parts || kernel == add_rank_sums || kernel == join_head;
}

/// Expects that every kernel of a device alone was launched, and no other.
inline void expect_kernels_of_one_device(const std::set<cuda::Kernel>& launched) {
  for (int i = 0; i <= static_cast<int>(cuda::Kernel::make_synthetic); ++i) {
    const auto kernel = static_cast<cuda::Kernel>(i);
    EXPECT_NE(launched.contains(kernel), is_of_ranks(kernel)) << "kernel " << i;
  }
}

}  // namespace draftscope::engine::test
