// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint's weights in device memory.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/weight_format.h>
#include <string_view>
#include <vector>

#include "cuda/device_memory.h"
#include "cuda/gpu.h"
#include "packed_weights.h"

namespace draftscope::engine::cuda {

struct UploadedModel {
  speculation::ModelShape shape;
  KernelFormat stored = KernelFormat::bf16;  ///< Format of the embedding.
  KernelFormat head = KernelFormat::bf16;
  KernelFormat layers = KernelFormat::bf16;  ///< Format of the layers' matrices; some may be in bf16.
  DeviceModel model{};                       ///< cache_rows, cosine and sine are not filled in.
  std::vector<DeviceLayer> host_layers;      ///< Keys and values are not filled in.
  std::vector<PackedLayer> weights;          ///< By layer.
  PackedProduct head_weights;
  DeviceMemory memory;  ///< Memory of all weights.
};

/// A second copy of the layers with their matrices in another format; everything else is shared with the
/// model.
struct UploadedDraftLayers {
  std::vector<DeviceLayer> layers;
  std::vector<PackedLayer> weights;
  DeviceMemory memory;  ///< Weights and their scales.
};

/// "fp8", "q4_0", "bf16": a format as files and recordings name it.
[[nodiscard]] std::string_view weights_name(KernelFormat format);

/// The format of the layers' matrices after upload_model().
[[nodiscard]] KernelFormat layer_format(const Checkpoint& checkpoint, CudaWeights weights);

/// Whether the kernels can run this shape and these types on such a device.
[[nodiscard]] Result<void> check_model(const Checkpoint& checkpoint, const CudaOptions& options,
                                       const GpuDescription& device);

/// Bytes that upload_model() will allocate.
struct UploadBytes {
  std::size_t kept = 0;     ///< For the weights that stay.
  std::size_t passing = 0;  ///< For matrices in transit; released before upload_model() returns.
};
[[nodiscard]] UploadBytes upload_bytes(const Checkpoint& checkpoint, CudaWeights weights);

[[nodiscard]] Result<UploadedModel> upload_model(Gpu& gpu, const Checkpoint& checkpoint, CudaWeights weights);

/// The kernels' name of a format that draft layers can have beside the model's own. Errors: the kernels lack
/// the format, the model's layers are in fp8 or have activations of another type, or their widths do not fit
/// the format.
[[nodiscard]] Result<KernelFormat> draft_layer_format(const Checkpoint& checkpoint,
                                                      const UploadedModel& model,
                                                      speculation::WeightFormat format);

/// Rounds the layers' matrices from the checkpoint's format to a format of draft_layer_format(). Errors:
/// memory is short, or a number is not finite.
[[nodiscard]] Result<UploadedDraftLayers> upload_draft_layers(Gpu& gpu, const Checkpoint& checkpoint,
                                                              const UploadedModel& model,
                                                              KernelFormat format);

}  // namespace draftscope::engine::cuda
