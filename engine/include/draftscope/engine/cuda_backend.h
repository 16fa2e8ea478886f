// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The backend on an NVIDIA GPU. Weights are uploaded once; activations and K/V in the weights' 16-bit type
// (bf16 for fp8), sums and the residual stream in fp32. Passes up to max_invariant_rows() rows run on kernels
// of our own, wider ones (prefill) on cuBLAS. A build without the CUDA toolkit has the function, which says
// so.
//
// Several ranks may share a model, a device each, cut as the CPU's (cpu_backend.h). Devices exchange partial
// sums by NCCL, which brings every rank's to every rank; each adds them by itself, as neighbours, so that all
// have the same bits, each time. Columns of o and down are cut into eight parts where these are multiples of
// 16: decoding on one (a Collective of one), two, four and eight ranks has the same bits then.
// Of wide passes no more than that is promised whose products a library sums in an order of its own. Rounds
// are the host's (has_chain_rounds() is false); a sublayer that a mask skips has its exchange nonetheless,
// unless its layer is skipped whole. Logits and best tokens are every rank's.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/ranks/collective.h>
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

struct CudaOptions {
  std::int32_t device = 0;
  std::int32_t cache_rows = 0;  ///< 0 = min(max_positions, 4096)
  CudaWeights weights;
  /// Hears which layer and operation each part of a graph computes. Started before the backend is made; not
  /// owned, must outlive it. Null = nobody.
  profiler::DeviceTrace* device_trace = nullptr;
  /// The ranks that share the model, and this one's place; null = this device has all of it. Not owned, must
  /// outlive the backend.
  Collective* ranks = nullptr;
};

/// Backend of a checkpoint on a GPU. Fails with one line if there is no device, its driver is too old, the
/// model's architecture has a trait that the kernels lack (those of Gemma: caps, GELU, windows in some
/// layers), its shape does not fit them (d_model, d_ff multiples of 8, of 16 where any are fp8, of 32 in
/// blocks, int4 or fp8_block; head_dim 32, 64, 96 or 128), or memory is short (with what was needed, and what
/// there was). Synthetic matrices that are not in host memory are made on the device. Sums of matrices in
/// blocks, int4 or fp8_block are bit for bit those of the same file widened. With ranks every rank calls it,
/// and it fails where a model can't be divided by them (cpu_backend.h), more than 16 share it, its matrices
/// are in blocks, int4 or fp8_block or not in host memory, or this build has no NCCL. For drafts
/// (Backend::hold_weights) the backend holds fp8, with d_model and d_ff multiples of 16, and q8_0, q4_0,
/// q4_k, int4 and fp8_block, rounded as CudaWeights, with multiples of 32, not with ranks; beside layers of
/// the same activations that are not in fp8. The backend keeps a copy of `checkpoint`, which shares its
/// bytes.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& checkpoint,
                                                                 const CudaOptions& options);

}  // namespace draftscope::engine
