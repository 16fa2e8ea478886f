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

PieceLayout piece_layout_of(KernelFormat format, std::int32_t depth) {
  if (const GroupedLayout* const groups = grouped_layout(format))
    return piece_layout(depth, groups->run_depth(), groups->scale_words);
  const int value_bytes = is_plain(format) ? 2 : 1;
  return piece_layout(depth, run_bytes / value_bytes, 0);
}

PackedProduct packed_product(OperationKind kind, KernelFormat format, std::int32_t outputs,
                             std::int32_t depth) {
  // A tile of gate and up has half a tile of outputs of each.
  return {kind, format, piece_layout_of(format, depth), tiles_of(outputs), depth, nullptr};
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
