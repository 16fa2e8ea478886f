// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The launches of a pass, in order. What they compute on is in device memory (kernels/pass_state.h), so the
// same launches, kept as a graph, serve every pass of the same form.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/speculation/model_shape.h>
#include <array>
#include <cstdint>
#include <optional>

#include "gpu.h"

namespace draftscope::engine::cuda {

/// Formats of a pass's matrices.
struct PassFormats {
  WeightFormat stored = WeightFormat::bf16;  ///< the embedding
  WeightFormat layers = WeightFormat::bf16;
  WeightFormat head = WeightFormat::bf16;
  ProductOutputs others = {};  ///< the most of a layer's that are in bf16 beside the layers' format
};

class PassLauncher {
 public:
  /// `trace`, not owned and perhaps null, hears what each kernel that is captured into a graph computes.
  PassLauncher(Gpu& gpu, PassParams base, const speculation::ModelShape& shape, const PassFormats& formats,
               profiler::DeviceTrace* trace);

  [[nodiscard]] Result<void> load_inputs(std::int32_t rows);
  /// One layer, at `slot` of the slot table, for up to max_decode_rows rows. The table's halves are n_layers
  /// places each; in a trace the layer goes by its place in its half.
  [[nodiscard]] Result<void> layer(std::int32_t slot, std::int32_t rows);
  /// One layer for any number of rows, by the library's products. `layer` is the layer's own.
  /// `keys_are_ranges`: each row's keys are cache rows one behind the other, as a chain's are.
  [[nodiscard]] Result<void> wide_layer(std::int32_t slot, const DeviceLayer& layer, std::int32_t rows,
                                        bool keys_are_ranges, bool attention, bool mlp);
  /// Rows [first_row, first_row + rows) through the head, and what becomes of the vocabulary's statistics.
  [[nodiscard]] Result<void> head(std::int32_t first_row, std::int32_t rows, bool logits);
  [[nodiscard]] Result<void> finish_head(std::int32_t rows);
  [[nodiscard]] Result<void> select_top(std::int32_t rows, std::int32_t k, HeadResult* top);
  /// `loop` is the one whose body the step is, if it is of any.
  [[nodiscard]] Result<void> finish_draft_step(bool sampled, std::optional<LoopHandle> loop);
  /// Judges a sampled round: behind finish_head() of its `rows` rows with logits.
  [[nodiscard]] Result<void> judge_draft(std::int32_t rows);
  /// Keeps a round's or a pass's rows as they are in the residual stream. `boundary`: place among those that
  /// a pass keeps.
  [[nodiscard]] Result<void> keep_states(std::int32_t rows, float* to, std::int32_t boundary = 0);
  /// Kernel::move_states or compare_states.
  [[nodiscard]] Result<void> run_bank(Kernel kernel, std::int32_t n, const NumberPair* pairs, float* cosines);
  [[nodiscard]] Result<void> begin_last_token();
  [[nodiscard]] Result<void> begin_verification();
  [[nodiscard]] Result<void> move_cache_rows(std::int32_t n_layers, std::int32_t n_moves,
                                             const RowMove* moves);

  /// fp32 values that `Workspace::wide` needs for `rows` rows.
  [[nodiscard]] static std::size_t wide_values(const speculation::ModelShape& shape, std::int32_t rows);

 private:
  [[nodiscard]] Result<void> product(Kernel kernel, std::int32_t slot, std::int32_t first_row,
                                     std::int32_t rows, bool logits);
  /// Matrices of a product that are in one format, of which a layer has `outputs` at most; 0 = none.
  struct ProductPart {
    WeightFormat format = WeightFormat::bf16;
    std::int32_t outputs = 0;
  };
  [[nodiscard]] std::array<ProductPart, 2> parts_of(Kernel product) const;
  [[nodiscard]] Result<void> product_in(const ProductPart& part, Kernel kernel, std::int32_t slot,
                                        std::int32_t first_row, std::int32_t rows, bool logits);
  /// Ahead of a product that does not normalise its rows: a wide one, or one whose blocks have no room for
  /// them. `format`: any of the product's.
  [[nodiscard]] Result<void> normalise_rows(Norm norm, WeightFormat format, std::int32_t slot,
                                            std::int32_t first_row, std::int32_t rows);
  [[nodiscard]] Result<void> attention(std::int32_t slot, std::int32_t first_row, std::int32_t rows);
  [[nodiscard]] Result<void> wide_attention(std::int32_t slot, std::int32_t rows, bool keys_are_ranges);
  /// Norms of queries and keys, and of a sublayer's outputs; nothing where the architecture has none.
  [[nodiscard]] Result<void> normalise_heads(std::int32_t slot, std::int32_t rows);
  [[nodiscard]] Result<void> add_outputs(std::int32_t slot, std::int32_t rows, Norm sublayer);
  /// o or down, and what is between it and the residual stream.
  [[nodiscard]] Result<void> finish_sublayer(std::int32_t slot, std::int32_t rows, Norm sublayer);
  [[nodiscard]] Result<void> finish_wide_sublayer(std::int32_t slot, const DeviceMatrix& matrix,
                                                  std::int32_t rows, Norm sublayer);
  struct WideShape {
    std::int32_t rows, outputs, depth, out_stride;
  };
  [[nodiscard]] Result<void> multiply(const DeviceMatrix& matrix, const void* x, float* out,
                                      const WideShape& wide);
  [[nodiscard]] std::int32_t place_of(std::int32_t slot) const;
  [[nodiscard]] PassParams params(std::int32_t slot, std::int32_t first_row) const;

  Gpu& gpu_;
  PassParams base_;
  speculation::ModelShape shape_;
  PassFormats formats_;
  profiler::DeviceTrace* trace_;
  GpuDescription device_;
};

}  // namespace draftscope::engine::cuda
