// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_q4_k.h"

#include <cstdint>
#include <cstring>

#include "checkpoint/gguf/block_formats.h"
#include "checkpoint/gguf/unpack.h"
#include "checkpoint/gguf/widen.h"
#include "cuda_shapes.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

constexpr std::uint32_t q4_k_in_files = 12;
constexpr std::int32_t depth_of_blocks = static_cast<std::int32_t>(gguf::Q4_K::weights);

std::uint16_t random_q4_k_unit(Random& random, float size) {
  if (chance(random, 0.1)) return static_cast<std::uint16_t>(pick(random, 0, 3));  // zero, subnormals
  return float_to_f16(size * static_cast<float>(pick(random, -1000, 1000)) / 1000.0F);
}

std::vector<std::byte> random_q4_k(std::size_t count, Random& random) {
  std::vector<std::byte> bytes(count * gguf::Q4_K::bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(pick(random, 0, 255));
  for (std::size_t block = 0; block < bytes.size(); block += gguf::Q4_K::bytes) {
    const std::uint16_t units[] = {random_q4_k_unit(random, 3e-4F), random_q4_k_unit(random, 2e-3F)};
    std::memcpy(bytes.data() + block, units, sizeof units);
  }
  return bytes;
}

}  // namespace

InQ4K::InQ4K(const Checkpoint& plain, Random& random, double plain_share) : packed_(plain), widened_(plain) {
  bool any = false;
  for (std::size_t i = 0; i < plain.weights.layers.size(); ++i) {
    const auto pack_some = [&](std::initializer_list<TensorView LayerWeights::*> together, bool must) {
      if (!must && chance(random, plain_share)) return;
      for (TensorView LayerWeights::*const matrix : together)
        pack(packed_.weights.layers[i].*matrix, widened_.weights.layers[i].*matrix, random);
      any = true;
    };
    for (TensorView LayerWeights::*const matrix :
         {&LayerWeights::q, &LayerWeights::k, &LayerWeights::v, &LayerWeights::o, &LayerWeights::down})
      pack_some({matrix}, false);
    pack_some({&LayerWeights::gate, &LayerWeights::up}, i + 1 == plain.weights.layers.size() && !any);
  }
}

void InQ4K::pack(TensorView& packed, TensorView& widened, Random& random) {
  const auto blocks = static_cast<std::size_t>(packed.rows * packed.columns / depth_of_blocks);
  memory_.push_back(std::make_unique<std::vector<std::byte>>(random_q4_k(blocks, random)));
  packed.data = memory_.back()->data();
  packed.blocks = gguf::find_block_format(q4_k_in_files);
  memory_.push_back(std::make_unique<std::vector<std::byte>>(gguf::widened_rows(packed, 0, packed.rows)));
  widened.data = memory_.back()->data();
}

speculation::ModelShape random_q4_k_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.n_layers = pick(random, 1, 2);
  shape.head_dim = 32 << pick(random, 0, 2);
  shape.n_heads = depth_of_blocks / shape.head_dim;
  shape.n_kv_heads = pick(random, 1, 2);
  shape.d_model = depth_of_blocks;
  shape.d_ff = depth_of_blocks * pick(random, 1, 2);
  shape.vocab = pick(random, 4, 40);
  return shape;
}

}  // namespace draftscope::engine::test
