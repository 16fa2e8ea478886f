// SPDX-License-Identifier: GPL-3.0-or-later
#include "packed_weights.h"

#include <algorithm>

namespace draftscope::engine::cuda {

namespace {

constexpr int pack_blocks = 1024;

PieceParams params_of(const DeviceModel& model, const DeviceLayer& layer, const PackedProduct& product) {
  PieceParams params{};
  params.pass.model = model;
  params.layer = layer;
  params.product = product.kind;
  params.layout = product.layout;
  params.tiles = product.tiles;
  params.depth = product.depth;
  params.pieces = product.pieces;
  return params;
}

}  // namespace

PieceLayout piece_layout_of(WeightFormat format, std::int32_t depth) {
  switch (format) {
    case WeightFormat::fp8:
      return piece_layout(depth, 64, 0);
    case WeightFormat::q8_0:
    case WeightFormat::fp8_block:
      return piece_layout(depth, 64, 1);
    case WeightFormat::q4_0:
      return piece_layout(depth, 128, 2);
    case WeightFormat::q4_k:
      return piece_layout(depth, 128, 3);
    case WeightFormat::int4:
    case WeightFormat::int4_f16:
      return piece_layout(depth, 128, 1);
    default:
      return piece_layout(depth, 32, 0);
  }
}

PackedProduct packed_product(OperationKind kind, WeightFormat format, std::int32_t outputs,
                             std::int32_t depth) {
  // A tile of gate and up has as many outputs of each as half a tile has.
  const std::int32_t tiles = (outputs + tile_outputs - 1) / tile_outputs;
  return {kind, format, piece_layout_of(format, depth), tiles, depth, nullptr};
}

Result<void> pack(Gpu& gpu, const DeviceModel& model, const DeviceLayer& layer, const PackedProduct& product,
                  const std::byte* const (&rows)[3]) {
  PieceParams params = params_of(model, layer, product);
  std::copy(std::begin(rows), std::end(rows), params.rows);
  return gpu.launch({.kernel = Kernel::pack_pieces,
                     .format = product.format,
                     .blocks = std::min(product.tiles, pack_blocks)},
                    params);
}

Result<void> unpack(Gpu& gpu, const DeviceModel& model, const DeviceLayer& layer,
                    const PackedProduct& product, std::uint16_t* numbers) {
  PieceParams params = params_of(model, layer, product);
  params.numbers = numbers;
  return gpu.launch({.kernel = Kernel::unpack_pieces,
                     .format = product.format,
                     .blocks = std::min(product.tiles, pack_blocks)},
                    params);
}

}  // namespace draftscope::engine::cuda
