// SPDX-License-Identifier: GPL-3.0-or-later
// The part of cuBLAS that wide products use.

#include <cublas_v2.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "activity.h"
#include "cublas.h"
#include "state.h"

using namespace draftscope::cuda_stand_in;
using draftscope::engine::cuda::KernelFormat;
using draftscope::engine::cuda::WideProduct;

namespace {

/// Does the same as call(), with cuBLAS's errors.
template <typename Run>
cublasStatus_t blas_call(const char* name, bool gives_back, Run run) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const cudaError_t error = call(name, gives_back, [&](State& s) {
    status = run(s);
    return cudaSuccess;
  });
  return error == cudaSuccess ? status : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t refuse(State& s, cublasStatus_t status, std::string why) {
  s.detail = std::move(why);
  return status;
}

Blas* blas_of(State& s, cublasHandle_t handle) {
  auto* const blas = reinterpret_cast<Blas*>(handle);
  return s.blas.contains(blas) ? blas : nullptr;
}

std::size_t wide(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// Whether a product's operands lie in device memory.
bool are_in_memory(const State& s, const WideProduct& product) {
  const std::size_t half = sizeof(std::uint16_t);
  return holds(s.device_blocks, product.weights, wide(product.outputs) * wide(product.depth) * half) &&
         holds(s.device_blocks, product.x, wide(product.rows) * wide(product.depth) * half) &&
         holds(s.device_blocks, product.out, wide(product.rows) * wide(product.outputs) * sizeof(float));
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return blas_call("cublasCreate", false, [&](State& s) {
    *handle = reinterpret_cast<cublasHandle_t>(*s.blas.insert(new Blas).first);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return blas_call("cublasDestroy", true, [&](State& s) {
    Blas* const blas = blas_of(s, handle);
    if (blas == nullptr) return refuse(s, CUBLAS_STATUS_NOT_INITIALIZED, "a handle that is not there");
    s.blas.erase(blas);
    delete blas;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return blas_call("cublasSetStream", false, [&](State& s) {
    Blas* const blas = blas_of(s, handle);
    if (blas == nullptr) return refuse(s, CUBLAS_STATUS_NOT_INITIALIZED, "a handle that is not there");
    blas->stream = reinterpret_cast<Stream*>(stream);
    blas->workspace = nullptr;  // cuBLAS does the same.
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* memory, std::size_t bytes) {
  return blas_call("cublasSetWorkspace", false, [&](State& s) {
    Blas* const blas = blas_of(s, handle);
    if (blas == nullptr) return refuse(s, CUBLAS_STATUS_NOT_INITIALIZED, "a handle that is not there");
    if (!holds(s.device_blocks, memory, bytes))
      return refuse(s, CUBLAS_STATUS_INVALID_VALUE, "a workspace beyond device memory");
    blas->workspace = memory;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t first_operation,
                            cublasOperation_t second_operation, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType a_type, int a_stride, const void* b,
                            cudaDataType b_type, int b_stride, const void* beta, void* c, cudaDataType c_type,
                            int c_stride, cublasComputeType_t compute, cublasGemmAlgo_t /*algorithm*/) {
  return blas_call("cublasGemmEx", false, [&](State& s) {
    Blas* const blas = blas_of(s, handle);
    if (blas == nullptr || !s.streams.contains(blas->stream))
      return refuse(s, CUBLAS_STATUS_NOT_INITIALIZED, "a handle or a stream that is not there");
    const bool is_known = first_operation == CUBLAS_OP_T && second_operation == CUBLAS_OP_N &&
                          a_type == b_type && (a_type == CUDA_R_16BF || a_type == CUDA_R_16F) &&
                          c_type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F && a_stride == k &&
                          b_stride == k && c_stride == m && *static_cast<const float*>(alpha) == 1.0F &&
                          *static_cast<const float*>(beta) == 0.0F;
    if (!is_known || m <= 0 || n <= 0 || k <= 0)
      return refuse(s, CUBLAS_STATUS_NOT_SUPPORTED, "another product than the engine's");
    if (blas->workspace == nullptr)
      return refuse(s, CUBLAS_STATUS_ALLOC_FAILED, "a product without the workspace that it was to be given");
    Operation operation;
    operation.work = Work::product;
    operation.product = {
        a_type == CUDA_R_16F ? KernelFormat::f16 : KernelFormat::bf16, a, b, static_cast<float*>(c), n, m, k};
    if (!are_in_memory(s, operation.product))
      return refuse(s, CUBLAS_STATUS_INVALID_VALUE, "a product of what lies beyond device memory");
    operation.correlation = activity::called(activity::Call::launch);
    blas->stream->queue.push_back(std::move(operation));
    return CUBLAS_STATUS_SUCCESS;
  });
}

const char* cublasGetStatusString(cublasStatus_t status) {
  static thread_local std::string text;
  text = status == CUBLAS_STATUS_SUCCESS
             ? "CUBLAS_STATUS_SUCCESS"
             : fmt::format("cuBLAS status {} (emulated: {})", static_cast<int>(status), state().detail);
  return text.c_str();
}

}  // extern "C"

namespace draftscope::engine::cuda {

/// Stands in for the engine's load_cublas(), which opens the library.
Result<Cublas> load_cublas() {
  return Cublas{.create = cublasCreate_v2,
                .destroy = cublasDestroy_v2,
                .set_stream = cublasSetStream_v2,
                .set_workspace = cublasSetWorkspace_v2,
                .multiply = cublasGemmEx,
                .status_string = cublasGetStatusString};
}

}  // namespace draftscope::engine::cuda
