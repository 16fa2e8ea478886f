// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_blocks.h"

#include <cstdint>
#include <cstring>

#include "checkpoint/element_bits.h"
#include "checkpoint/gguf/block_formats.h"
#include "checkpoint/gguf/widen.h"
#include "cpu/model.h"
#include "cpu/quantised/quantise.h"
#include "layer_matrices.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

/// The file's type of a format.
const gguf::BlockFormat& stored_format(WeightFormat format) {
  constexpr std::uint32_t types = 64;
  for (std::uint32_t type = 0; type < types; ++type)
    if (const gguf::BlockFormat* const found = gguf::find_block_format(type);
        found != nullptr && found->multiplied == format)
      return *found;
  throw std::logic_error("no file has such blocks");
}

/// A block as unpack.h says that files have it.
void write_block(WeightFormat format, const cpu::QuantisedBlock& block, std::byte* out) {
  std::memcpy(out, &block.scale, 2);
  for (std::size_t i = 0; i < block.quants.size(); ++i)
    if (format == WeightFormat::q8_0)
      out[2 + i] = static_cast<std::byte>(block.quants[i] ^ 0x80U);
    else
      out[2 + i % 16] |= static_cast<std::byte>(block.quants[i] << i / 16 * 4);
}

}  // namespace

InBlocks::InBlocks(const Checkpoint& plain, WeightFormat format) : packed_(plain), widened_(plain) {
  for_each_layer_matrix(packed_, widened_,
                        [&](TensorView& packed, TensorView& widened) { pack(packed, widened, format); });
  if (plain.weights.head.data != plain.weights.embedding.data)
    pack(packed_.weights.head, widened_.weights.head, format);
}

void InBlocks::pack(TensorView& packed, TensorView& widened, WeightFormat format) {
  const gguf::BlockFormat& stored = stored_format(format);
  std::vector<float> row(static_cast<std::size_t>(packed.columns));
  const std::size_t row_blocks = row.size() / cpu::block_depth;
  auto blocks = std::make_unique<std::vector<std::byte>>(static_cast<std::size_t>(packed.rows) * row_blocks *
                                                         stored.bytes);
  std::byte* out = blocks->data();
  for (std::int64_t r = 0; r < packed.rows; ++r) {
    copy_row(packed, r, row.data());
    for (std::size_t block = 0; block < row_blocks; ++block, out += stored.bytes)
      write_block(format,
                  cpu::quantise_block(*cpu::packed_layout(format), row.data() + block * cpu::block_depth,
                                      cpu::block_depth),
                  out);
  }
  packed.data = blocks->data();
  packed.blocks = &stored;
  blocks_.push_back(std::move(blocks));
  auto numbers = std::make_unique<std::vector<std::byte>>(gguf::widened_rows(packed, 0, packed.rows));
  widened.data = numbers->data();
  numbers_.push_back(std::move(numbers));
}

}  // namespace draftscope::engine::test
