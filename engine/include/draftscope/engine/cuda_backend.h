// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The backend on an NVIDIA GPU. Weights are uploaded once; activations and K/V have the weights' 16-bit type
// (bf16 for fp8), sums and the residual stream are fp32. Passes up to max_invariant_rows() rows run on our
// kernels, wider ones (prefill) on cuBLAS. In a build without the CUDA toolkit, make_cuda_backend() exists
// and returns an error that says so.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::engine {

/// Format that the layers' matrices are rounded to; embedding and head stay as stored. The formats are:
///
/// - fp8: e4m3 with a scale per output.
/// - q8_0, q4_0: by the CPU backend's search, but without its weighting of columns.
/// - int4, q4_k: to the nearest of sixteen even steps from the min to the max of 128 or 32 weights.
/// - fp8_block: e4m3 with a scale per 128 × 128 weights.
///
/// None = as in the checkpoint: bf16, fp16, or the layers' matrices in fp8, in GGUF's Q8_0 or Q4_0, or some
/// of them in its Q4_K. They may also be the integers of AWQ and GPTQ, or e4m3 with scales of blocks
/// (BlockMatrices::cuda_as_stored); others are refused. Activations are bf16 with fp8, fp8_block and GGUF's
/// blocks, and of the model's type with int4.
using CudaWeights = std::optional<speculation::WeightFormat>;

/// How passes and rounds of decoding run (engine/cuda/kernels/program.h): as one kernel, or as one launch per
/// operation, for checks and for tracing operations by CUPTI. Texts are the same, bit for bit.
enum class DecodingPasses : std::uint8_t { programs, plain };

struct CudaOptions {
  std::int32_t device = 0;
  std::int32_t cache_rows = 0;  ///< 0 = min(max_positions, 4096)
  CudaWeights weights;
  /// Receiver of which operation of which layer each launch computes. It is started before the backend is
  /// made, is not owned and must outlive it. Null = none.
  profiler::DeviceTrace* device_trace = nullptr;
  DecodingPasses passes = DecodingPasses::programs;
};

/// Backend of a checkpoint on a GPU. Fails with one line in these cases:
///
/// - There is no device, or its driver is too old.
/// - The model's architecture has a trait that the kernels lack (those of Gemma: caps, GELU, windows in some
///   layers).
/// - Its shape does not fit them: d_model and d_ff must be multiples of 8, of 16 with any fp8, of 32 in
///   blocks, int4 or fp8_block; head_dim must be 32, 64, 96 or 128.
/// - Memory is short (the line says what was needed, and what there was).
///
/// The host makes synthetic matrices that are not in its memory one by one. Sums of matrices in blocks, int4
/// or fp8_block are bit for bit those of the same file widened. For drafts (Backend::prepare_draft_weights)
/// the backend supports fp8, with d_model and d_ff multiples of 16, and q8_0, q4_0, q4_k, int4 and fp8_block,
/// rounded as CudaWeights, with multiples of 32. The target's layers must then have the same activations and
/// not be in fp8. The backend stores a copy of `checkpoint`, which shares its bytes.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& checkpoint,
                                                                 const CudaOptions& options);

/// Names of this machine's GPUs as their driver gives them; index N belongs to device cuda:N. Makes no
/// context. Errors, one line: this build has no CUDA backend, there is no device, or its driver is too old.
[[nodiscard]] Result<std::vector<std::string>> cuda_device_names();

}  // namespace draftscope::engine
