// SPDX-License-Identifier: GPL-3.0-or-later
// Attention as PTX, beside the emulated device: contexts that small models do not reach.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compared_kernels.h"
#include "made_up_rows.h"
#include "ptx_files.h"
#include "ptx_gpu.h"

namespace draftscope::engine::test {
namespace {

using cuda::emulation::Agreement;
using cuda::emulation::ComparedKernels;
using cuda::emulation::PtxGpuOptions;

std::unique_ptr<cuda::Gpu> compared_gpu(ComparedKernels& compared) {
  PtxGpuOptions options;
  options.before = [&](ptx::Device& device, const cuda::Launch& launch, const cuda::KernelParams& params) {
    return compared.before(device, launch, params);
  };
  options.after = [&](ptx::Device& device, const cuda::Launch& launch, const cuda::KernelParams& params,
                      const ptx::LaunchCounts&) { return compared.after(device, launch, params); };
  auto gpu = cuda::emulation::make_ptx_gpu(ptx_files().compute_90_unfused, std::move(options));
  if (!gpu) throw std::runtime_error(gpu.error().message);
  return std::move(*gpu);
}

TEST(AttentionAsPtx, ComputesWhatItsSourceDoesBitForBitBehindManyKeys) {
  DRAFTSCOPE_NEEDS_PTX();
  Random random(31);
  ComparedKernels compared(Agreement::exact);
  for (const int head_dim : {64, 128}) {
    AttentionDevice device({.head_dim = head_dim, .n_kv_heads = 1, .group = 4, .cache_rows = 2300}, random(),
                           compared_gpu(compared));
    EXPECT_NO_THROW((void)device.decode(chain_rows(9, 2200)));
    EXPECT_NO_THROW((void)device.decode(tree_rows(random, 6, 2100)));
    EXPECT_NO_THROW((void)device.decode(chain_rows(1, 700)));
    EXPECT_NO_THROW((void)device.prefill(chain_rows(70, 150)));
    EXPECT_NO_THROW((void)device.prefill(chain_rows(70, 150, 40)));
  }
}

}  // namespace
}  // namespace draftscope::engine::test
