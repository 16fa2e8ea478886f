// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint's weights in device memory.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <vector>

#include "device_memory.h"
#include "gpu.h"

namespace draftscope::engine::cuda {

struct UploadedModel {
  speculation::ModelShape shape;
  WeightFormat stored = WeightFormat::bf16;  ///< embedding and head
  WeightFormat layers = WeightFormat::bf16;  ///< the layers' matrices
  DeviceModel model{};                       ///< cache_rows, cosine and sine are not filled in
  std::vector<DeviceLayer> host_layers;      ///< keys and values are not filled in
  DeviceMemory memory;
};

/// The layers once more, their matrices in fp8; all else is the model's.
struct UploadedDraftLayers {
  std::vector<DeviceLayer> host_layers;
  DeviceMemory memory;
};

/// The format that upload_model() will hold the layers' matrices in.
[[nodiscard]] WeightFormat layer_format(const Checkpoint& checkpoint, CudaWeights weights);

/// Weights of 16 bytes, which the layers' widths must be multiples of.
[[nodiscard]] std::int32_t width_granule(WeightFormat layers);

/// Whether the kernels can run this shape and these types on such a device.
[[nodiscard]] Result<void> check_model(const Checkpoint& checkpoint, const CudaOptions& options,
                                       const GpuDescription& device);

/// Bytes that upload_model() will allocate for the weights to stay.
[[nodiscard]] std::size_t model_bytes(const Checkpoint& checkpoint, CudaWeights weights);

[[nodiscard]] Result<UploadedModel> upload_model(Gpu& gpu, const Checkpoint& checkpoint, CudaWeights weights);

/// Whether layers can be held in fp8 beside the model's: these are bf16, and of widths that fp8 kernels take.
[[nodiscard]] Result<void> check_draft_layers(const Checkpoint& checkpoint, const UploadedModel& model);

/// Quantises the matrices of `model`, which are as stored, where they are.
[[nodiscard]] Result<UploadedDraftLayers> upload_draft_layers(Gpu& gpu, const Checkpoint& checkpoint,
                                                              const UploadedModel& model);

}  // namespace draftscope::engine::cuda
