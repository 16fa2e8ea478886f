// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// API calls that launch device work or wait for it. CUPTI writes an external correlation only next to the
// record of a call, and recording all calls would flood the buffers with cudaGetDevice.

#include <cupti.h>
#include <algorithm>
#include <array>
#include <string_view>

namespace draftscope::profiler::cupti {

/// A call and the name of its row; variants of one call share it.
struct LaunchCall {
  CUpti_CallbackId id = 0;
  std::string_view name;
};

inline constexpr std::array<LaunchCall, 29> runtime_launch_calls{{
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "[cudaLaunchKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, "[cudaLaunchKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, "[cudaLaunchKernelExC]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060, "[cudaLaunchKernelExC]"},
    {CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, "[cudaLaunchKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, "[cudaLaunchKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000, "[cudaLaunchCooperativeKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000, "[cudaLaunchCooperativeKernel]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, "[cudaMemcpy]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, "[cudaMemcpy]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "[cudaMemcpyAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000, "[cudaMemcpyAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020, "[cudaMemcpy2D]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, "[cudaMemcpy2DAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000, "[cudaMemcpy2DAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020, "[cudaMemcpyToSymbol]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbolAsync_v3020, "[cudaMemcpyToSymbolAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, "[cudaMemset]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemset_ptds_v7000, "[cudaMemset]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "[cudaMemsetAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_ptsz_v7000, "[cudaMemsetAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_v3020, "[cudaMemset2DAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_ptsz_v7000, "[cudaMemset2DAsync]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "[cudaStreamSynchronize]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, "[cudaStreamSynchronize]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, "[cudaEventSynchronize]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "[cudaDeviceSynchronize]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "[cudaGraphLaunch]"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000, "[cudaGraphLaunch]"},
}};

/// Driver calls, since libraries such as cuBLAS launch through the driver.
inline constexpr std::array<LaunchCall, 25> driver_launch_calls{{
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "[cuLaunchKernel]"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, "[cuLaunchKernel]"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "[cuLaunchKernelEx]"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, "[cuLaunchKernelEx]"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "[cuLaunchCooperativeKernel]"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, "[cuLaunchCooperativeKernel]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "[cuMemcpyAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, "[cuMemcpyAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "[cuMemcpyHtoDAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, "[cuMemcpyHtoDAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, "[cuMemcpyDtoHAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, "[cuMemcpyDtoHAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, "[cuMemcpyDtoDAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, "[cuMemcpyDtoDAsync]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "[cuMemsetD8Async]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, "[cuMemsetD8Async]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, "[cuMemsetD32Async]"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, "[cuMemsetD32Async]"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "[cuStreamSynchronize]"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, "[cuStreamSynchronize]"},
    {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "[cuEventSynchronize]"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "[cuCtxSynchronize]"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, "[cuCtxSynchronize]"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "[cuGraphLaunch]"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, "[cuGraphLaunch]"},
}};

/// Empty for a call that is not listed.
[[nodiscard]] constexpr std::string_view call_name(CUpti_ActivityKind kind, CUpti_CallbackId id) {
  const auto name_in = [id](const auto& calls) {
    const auto found = std::ranges::find(calls, id, &LaunchCall::id);
    return found == calls.end() ? std::string_view() : found->name;
  };
  return kind == CUPTI_ACTIVITY_KIND_DRIVER ? name_in(driver_launch_calls) : name_in(runtime_launch_calls);
}

}  // namespace draftscope::profiler::cupti
