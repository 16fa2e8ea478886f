// SPDX-License-Identifier: GPL-3.0-or-later
// Time of the library's product (cuBLASLt, bf16 in, fp32 sums) for 1 to 32 rows on the matrices of two
// models, as a share of the time that reading the weights takes, and whether a row's bits depend on how many
// rows are computed with it. Our own narrow products are to be compared with it. Prints JSON.

#include <cublasLt.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_check.h"
#include "memory_kernels.h"
#include "quartiles.h"
#include "replay_timer.h"

namespace {

using namespace draftscope;
using bench::check;

Result<void> check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return fail("{}: {}", what, cublasLtGetStatusString(status));
}

constexpr int repeats = 5;
constexpr int widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int max_rows = 32;
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr std::size_t element_bytes = 2;

struct Matrix {
  const char* model;
  const char* name;
  std::int64_t outputs;
  std::int64_t depth;
};
constexpr Matrix matrices[] = {
    {"llama-3-8b", "qkv", 6144, 4096},      {"llama-3-8b", "o", 4096, 4096},
    {"llama-3-8b", "gate up", 28672, 4096}, {"llama-3-8b", "down", 4096, 14336},
    {"llama-3-8b", "head", 128256, 4096},   {"llama-3.2-1b", "qkv", 3072, 2048},
    {"llama-3.2-1b", "o", 2048, 2048},      {"llama-3.2-1b", "gate up", 16384, 2048},
    {"llama-3.2-1b", "down", 2048, 8192},   {"llama-3.2-1b", "head", 128256, 2048},
};

/// out[rows][outputs] = x[rows][depth] · weights[outputs][depth]ᵀ: by columns, (outputs × rows).
struct Product {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t weights = nullptr;
  cublasLtMatrixLayout_t x = nullptr;
  cublasLtMatrixLayout_t out = nullptr;
  cublasLtMatmulHeuristicResult_t choice{};

  Product() = default;
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {weights, x, out})
      if (layout != nullptr) (void)cublasLtMatrixLayoutDestroy(layout);
    if (operation != nullptr) (void)cublasLtMatmulDescDestroy(operation);
  }

  Result<void> prepare(cublasLtHandle_t handle, const Matrix& matrix, int rows) {
    const auto outputs = static_cast<std::uint64_t>(matrix.outputs);
    const auto depth = static_cast<std::uint64_t>(matrix.depth);
    const auto count = static_cast<std::uint64_t>(rows);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    DRAFTSCOPE_TRY(check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product"));
    DRAFTSCOPE_TRY(check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                        sizeof transposed),
                         "a product"));
    DRAFTSCOPE_TRY(
        check(cublasLtMatrixLayoutCreate(&weights, CUDA_R_16BF, depth, outputs, matrix.depth), "a product"));
    DRAFTSCOPE_TRY(
        check(cublasLtMatrixLayoutCreate(&x, CUDA_R_16BF, depth, count, matrix.depth), "a product"));
    DRAFTSCOPE_TRY(
        check(cublasLtMatrixLayoutCreate(&out, CUDA_R_32F, outputs, count, matrix.outputs), "a product"));
    cublasLtMatmulPreference_t preference = nullptr;
    DRAFTSCOPE_TRY(check(cublasLtMatmulPreferenceCreate(&preference), "a product"));
    const std::size_t workspace = workspace_bytes;
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    int found = 0;
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulAlgoGetHeuristic(handle, operation, weights, x, out, out, preference, 1, &choice,
                                              &found);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    DRAFTSCOPE_TRY(check(status, "choosing an algorithm"));
    if (found == 0)
      return fail("{} {} of {} rows: cuBLASLt has no algorithm", matrix.model, matrix.name, rows);
    return {};
  }
};

struct Memory {
  bench::DeviceBuffer weights, x, out, workspace;
};

Result<nlohmann::json> measure_matrix(bench::ReplayTimer& timer, cublasLtHandle_t handle,
                                      const Memory& memory, const Matrix& matrix) {
  const auto outputs = static_cast<std::size_t>(matrix.outputs);
  const std::size_t bytes = outputs * static_cast<std::size_t>(matrix.depth) * element_bytes;
  const std::size_t copies = memory.weights.bytes() / bytes;  // walked one after another: no cache holds them
  nlohmann::json by_rows = nlohmann::json::array();
  std::vector<std::byte> of_one_row(outputs * sizeof(float)), row(of_one_row.size());
  for (const int rows : widths) {
    Product product;
    DRAFTSCOPE_TRY(product.prepare(handle, matrix, rows));
    const float one = 1.0F;
    const float zero = 0.0F;
    const auto walk = [&](cudaStream_t stream) -> Result<void> {
      for (std::size_t i = 0; i < copies; ++i)
        DRAFTSCOPE_TRY(
            check(cublasLtMatmul(handle, product.operation, &one, memory.weights.data() + i * bytes,
                                 product.weights, memory.x.data(), product.x, &zero, memory.out.data(),
                                 product.out, memory.out.data(), product.out, &product.choice.algo,
                                 memory.workspace.data(), memory.workspace.bytes(), stream),
                  "a product"));
      return {};
    };
    DRAFTSCOPE_TRY_ASSIGN(std::vector<double> seconds, timer.seconds(walk, repeats));
    for (double& value : seconds) value *= 1e6 / static_cast<double>(copies);
    DRAFTSCOPE_TRY(check(cudaMemcpy(row.data(), memory.out.data(), row.size(), cudaMemcpyDeviceToHost),
                         "reading a result"));
    if (rows == 1) of_one_row = row;
    by_rows.push_back({{"rows", rows},
                       {"microseconds", bench::spread(seconds)},
                       {"gb_per_s", static_cast<double>(bytes) / bench::median(seconds) * 1e-3},
                       {"first_row_has_the_bits_of_one_row", row == of_one_row}});
  }
  return nlohmann::json{
      {"model", matrix.model}, {"matrix", matrix.name}, {"bytes", bytes}, {"widths", by_rows}};
}

Result<nlohmann::json> measure() {
  DRAFTSCOPE_TRY_ASSIGN(bench::ReplayTimer timer, bench::ReplayTimer::make());
  constexpr std::size_t largest_depth = 14336;
  constexpr std::size_t largest_outputs = 128256;
  constexpr std::size_t pool_bytes = std::size_t{2200} << 20;  // two heads of the larger model
  DRAFTSCOPE_TRY_ASSIGN(auto weights, bench::DeviceBuffer::allocate(pool_bytes));
  DRAFTSCOPE_TRY_ASSIGN(auto x, bench::DeviceBuffer::allocate(largest_depth * max_rows * element_bytes));
  DRAFTSCOPE_TRY_ASSIGN(auto out, bench::DeviceBuffer::allocate(largest_outputs * max_rows * sizeof(float)));
  DRAFTSCOPE_TRY_ASSIGN(auto workspace, bench::DeviceBuffer::allocate(workspace_bytes));
  DRAFTSCOPE_TRY(
      check(bench::launch_fill(weights.data(), weights.bytes(), 1, timer.stream()), "filling memory"));
  DRAFTSCOPE_TRY(check(bench::launch_fill(x.data(), x.bytes(), 2, timer.stream()), "filling memory"));
  const Memory memory{std::move(weights), std::move(x), std::move(out), std::move(workspace)};
  cublasLtHandle_t handle = nullptr;
  DRAFTSCOPE_TRY(check(cublasLtCreate(&handle), "starting cuBLASLt"));
  nlohmann::json products = nlohmann::json::array();
  for (const Matrix& matrix : matrices) {
    DRAFTSCOPE_TRY_ASSIGN(nlohmann::json measured, measure_matrix(timer, handle, memory, matrix));
    products.push_back(std::move(measured));
  }
  (void)cublasLtDestroy(handle);
  return products;
}

}  // namespace

int main() {
  const auto result = measure();
  if (!result)
    return std::fprintf(stderr, "bench_gpu_narrow_products: %s\n", result.error().message.c_str()), 1;
  std::printf("%s\n", result->dump(2).c_str());
}
