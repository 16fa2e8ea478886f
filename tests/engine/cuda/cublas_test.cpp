// SPDX-License-Identifier: GPL-3.0-or-later
// cuBLAS is loaded, not linked: its functions are found by their names, and called without a device.

#include "cuda/cublas.h"

#include <gtest/gtest.h>

namespace draftscope::engine::test {
namespace {

TEST(Cublas, IsFoundWhereTheToolkitIs) {
  const auto found = cuda::load_cublas();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_STREQ(found->status_string(CUBLAS_STATUS_NOT_INITIALIZED), "the library was not initialized");
  EXPECT_EQ(found->set_stream(nullptr, nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
}

}  // namespace
}  // namespace draftscope::engine::test
