// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace.h"

#include <algorithm>
#include <initializer_list>

#include "cpu/quantised/activations.h"

namespace draftscope::engine::cpu {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest register

/// Divides one block into pieces; run once without a block to learn its size.
class Layout {
 public:
  explicit Layout(std::byte* base) : base_(base) {}
  template <typename T>
  void place(T*& pointer, std::size_t count) {
    if (base_ != nullptr) pointer = reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

struct Sizes {
  std::size_t rows, d_model, q_width, kv_width, d_ff, up, angles, local_angles, group, head_stride,
      score_stride, blocks, widest;
};

/// Bytes of the largest set of activations, over all matrices.
std::size_t max_set_bytes(const ProductKernels& products, std::int32_t rows,
                          std::initializer_list<std::size_t> depths) {
  std::size_t most = 0;
  for (const std::size_t columns : depths) {
    const auto depth = static_cast<std::int64_t>(columns);
    most = std::max({most, products.set_bytes(rows, depth), activation_set_bytes(rows, depth),
                     static_cast<std::size_t>(rows) * columns * sizeof(float)});  // set of oneDNN
  }
  return most;
}

void place_all(Layout& layout, Workspace& workspace, const Sizes& sizes, const ProductKernels& products) {
  layout.place(workspace.residual, sizes.rows * sizes.d_model);
  layout.place(workspace.qkv, sizes.rows * (sizes.q_width + 2 * sizes.kv_width));
  layout.place(workspace.attended, sizes.rows * sizes.q_width);
  layout.place(workspace.gate, sizes.rows * sizes.d_ff);
  layout.place(workspace.up, sizes.rows * sizes.up);
  layout.place(workspace.cosine, sizes.rows * sizes.angles);
  layout.place(workspace.sine, sizes.rows * sizes.angles);
  if (sizes.local_angles > 0) {
    layout.place(workspace.local_cosine, sizes.rows * sizes.local_angles);
    layout.place(workspace.local_sine, sizes.rows * sizes.local_angles);
  }
  layout.place(workspace.product, sizes.rows * sizes.d_model);
  layout.place(workspace.blocks, sizes.rows * sizes.blocks);
  const std::initializer_list<std::size_t> depths{sizes.d_model, sizes.q_width, sizes.d_ff};
  layout.place(workspace.set, max_set_bytes(products, static_cast<std::int32_t>(sizes.rows), depths));
  const auto alone = [&](std::size_t depth) {
    return std::min(depth, static_cast<std::size_t>(private_values));
  };
  const std::size_t private_set =
      max_set_bytes(products, private_rows, {alone(sizes.d_model), alone(sizes.q_width), alone(sizes.d_ff)});
  for (ThreadWorkspace& thread : workspace.threads) {
    layout.place(thread.row, sizes.widest);
    layout.place(thread.set, private_set);
    layout.place(thread.queries, sizes.group * sizes.head_stride);
    layout.place(thread.attended, sizes.group * sizes.head_stride);
    layout.place(thread.scores, sizes.group * sizes.score_stride);
    layout.place(thread.logits, sizes.rows * static_cast<std::size_t>(head_block));
  }
}

}  // namespace

Result<Workspace> Workspace::allocate(const speculation::ModelShape& shape, const ProductKernels& products,
                                      std::int32_t rows, std::int32_t cache_rows, std::int32_t threads) {
  constexpr std::size_t vector_elements = 16;
  const auto round_up = [](std::size_t n, std::size_t step) { return (n + step - 1) / step * step; };
  Sizes sizes{};
  sizes.rows = static_cast<std::size_t>(rows);
  sizes.d_model = static_cast<std::size_t>(shape.d_model);
  sizes.q_width = static_cast<std::size_t>(shape.q_width());
  sizes.kv_width = static_cast<std::size_t>(shape.kv_width());
  sizes.d_ff = static_cast<std::size_t>(shape.d_ff);
  sizes.up = shape.traits.gated_mlp ? sizes.d_ff : 0;
  sizes.angles = static_cast<std::size_t>(shape.rotary_width()) / 2;
  sizes.local_angles = shape.rope.local_theta > 0.0 ? sizes.angles : 0;
  sizes.group = static_cast<std::size_t>(shape.n_heads / shape.n_kv_heads);
  sizes.head_stride = round_up(static_cast<std::size_t>(shape.head_dim), vector_elements);
  sizes.score_stride = round_up(static_cast<std::size_t>(cache_rows), vector_elements);
  sizes.blocks =
      round_up(static_cast<std::size_t>(shape.vocab), static_cast<std::size_t>(head_block)) / head_block;
  sizes.widest = std::max({sizes.d_model, sizes.q_width, sizes.d_ff});

  Workspace workspace;
  workspace.threads.resize(static_cast<std::size_t>(threads));
  workspace.score_stride = static_cast<std::int64_t>(sizes.score_stride);
  Layout measure(nullptr);
  place_all(measure, workspace, sizes, products);
  DRAFTSCOPE_TRY_ASSIGN(workspace.memory, Memory::allocate(measure.used()));
  Layout layout(workspace.memory.data());
  place_all(layout, workspace, sizes, products);
  return workspace;
}

}  // namespace draftscope::engine::cpu
