// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The backend on an NVIDIA GPU. Weights are uploaded once; activations and K/V in the weights' 16-bit type
// (bf16 for fp8), sums and the residual stream in fp32. Passes up to max_invariant_rows() rows run on kernels
// of our own, wider ones (prefill) on cuBLAS. A build without the CUDA toolkit has the function, which says
// so.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <memory>
#include <optional>

namespace draftscope::engine {

/// Format that the layers' matrices are rounded to: fp8 (e4m3 with a scale an output), q8_0 or q4_0, by the
/// CPU backend's search but without its weighing of columns, int4 or q4_k, to the nearest of sixteen even
/// steps from the least to the largest of 128 or 32 weights, or fp8_block, to e4m3 with a scale for 128 × 128
/// weights; embedding and head stay as stored. None = as the checkpoint has them: bf16, fp16, or the layers'
/// in fp8, in GGUF's Q8_0 or Q4_0, some of them in its Q4_K, in the integers of AWQ and GPTQ or in e4m3 with
/// scales of blocks (BlockMatrices::cuda_as_stored); others are refused. Activations are bf16 with fp8,
/// fp8_block and GGUF's blocks, and the model's with int4.
using CudaWeights = std::optional<speculation::WeightFormat>;

/// How passes and rounds of decoding run (engine/cuda/kernels/program.h): as one kernel, or as a launch an
/// operation, for checking and to see operations by CUPTI. Texts are the same, bit for bit.
enum class DecodingPasses : std::uint8_t { programs, plain };

struct CudaOptions {
  std::int32_t device = 0;
  std::int32_t cache_rows = 0;  ///< 0 = min(max_positions, 4096)
  CudaWeights weights;
  /// Hears which operation of which layer each launch computes. Started before the backend is made; not
  /// owned, must outlive it. Null = nobody.
  profiler::DeviceTrace* device_trace = nullptr;
  DecodingPasses passes = DecodingPasses::programs;
};

/// Backend of a checkpoint on a GPU. Fails with one line if there is no device, its driver is too old, the
/// model's architecture has a trait that the kernels lack (those of Gemma: caps, GELU, windows in some
/// layers), its shape does not fit them (d_model, d_ff multiples of 8, of 16 where any are fp8, of 32 in
/// blocks, int4 or fp8_block; head_dim 32, 64, 96 or 128), or memory is short (with what was needed, and what
/// there was). Synthetic matrices that are not in host memory are made on the device. Sums of matrices in
/// blocks, int4 or fp8_block are bit for bit those of the same file widened. For drafts
/// (Backend::prepare_draft_weights) the backend holds fp8, with d_model and d_ff multiples of 16, and q8_0,
/// q4_0, q4_k, int4 and fp8_block, rounded as CudaWeights, with multiples of 32; beside layers of the same
/// activations that are not in fp8. The backend keeps a copy of `checkpoint`, which shares its bytes.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& checkpoint,
                                                                 const CudaOptions& options);

}  // namespace draftscope::engine
