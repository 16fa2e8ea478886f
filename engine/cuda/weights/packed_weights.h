// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Weights in device memory as programs read them: in pieces (kernels/piece_layout.h). There is no second
// copy: the rows that pieces are made of pass through memory that is released afterwards.

#include <vector>

#include "cuda/gpu.h"

namespace draftscope::engine::cuda {

/// A product's weights in one format.
struct PackedProduct {
  OperationKind kind = OperationKind::qkv;
  KernelFormat format = KernelFormat::bf16;
  PieceLayout layout{};
  std::int32_t tiles = 0;
  std::int32_t depth = 0;
  std::byte* pieces = nullptr;

  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(tiles) * static_cast<std::size_t>(layout.tile_bytes());
  }
};

/// A layer's products in order. In a layer of two formats, a product that has matrices in both is there
/// twice, in the layers' format first.
using PackedLayer = std::vector<PackedProduct>;

/// Whether a format is 16-bit numbers that need no scale.
[[nodiscard]] constexpr bool is_plain(KernelFormat format) {
  return grouped_layout(format) == nullptr && format != KernelFormat::fp8;
}

[[nodiscard]] PieceLayout piece_layout_of(KernelFormat format, std::int32_t depth);

/// Describes a product of `outputs`, without pieces.
[[nodiscard]] PackedProduct packed_product(OperationKind kind, KernelFormat format, std::int32_t outputs,
                                           std::int32_t depth);

/// Packs matrices that are in device memory: those of `layer`, or the head, which has none.
[[nodiscard]] Result<void> pack(Gpu& gpu, const DeviceModel& model, const DeviceLayer& layer,
                                const PackedProduct& product, const std::byte* const (&rows)[3]);

/// Writes a product's weights to `numbers` in device memory: the 16-bit rows of its matrices one after
/// another.
[[nodiscard]] Result<void> unpack(Gpu& gpu, const DeviceModel& model, const DeviceLayer& layer,
                                  const PackedProduct& product, std::uint16_t* numbers);

}  // namespace draftscope::engine::cuda
