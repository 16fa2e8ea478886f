// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "launch.h"

namespace draftscope::engine::test {

inline void expect_every_kernel(const std::set<cuda::Kernel>& launched) {
  for (int kernel = 0; kernel <= static_cast<int>(cuda::Kernel::make_synthetic); ++kernel)
    EXPECT_TRUE(launched.contains(static_cast<cuda::Kernel>(kernel))) << "kernel " << kernel;
}

}  // namespace draftscope::engine::test
