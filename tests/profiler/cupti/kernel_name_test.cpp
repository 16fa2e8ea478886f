// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/kernel_name.h"

#include <gtest/gtest.h>

namespace draftscope::profiler::cupti {
namespace {

TEST(KernelName, DropsReturnTypeAndParametersAndKeepsTemplateArguments) {
  EXPECT_EQ(kernel_name("_Z5draftv"), "draft");
  EXPECT_EQ(kernel_name("_Z6verifyIfEvT_"), "verify<float>");
  EXPECT_EQ(kernel_name("_ZN5flash8split_kvILi128ELi4EEEvPKfPf"), "flash::split_kv<128, 4>");
  EXPECT_EQ(kernel_name("_ZN12_GLOBAL__N_16kernelEPf"), "(anonymous namespace)::kernel");
  EXPECT_EQ(kernel_name("_ZN12_GLOBAL__N_16kernelIPFvvEEEvT_"), "(anonymous namespace)::kernel<void (*)()>");
}

TEST(KernelName, LeavesWhatIsNoSymbol) {
  EXPECT_EQ(kernel_name("sm90_xmma_gemm_bf16"), "sm90_xmma_gemm_bf16");
  EXPECT_EQ(kernel_name("f"), "f");
  EXPECT_EQ(kernel_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(kernel_name(""), "kernel");
  EXPECT_EQ(kernel_name(nullptr), "kernel");
}

}  // namespace
}  // namespace draftscope::profiler::cupti
