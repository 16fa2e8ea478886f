// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One forward pass over a checked batch. Every thread of the team runs the same sequence of steps on its
// share of outputs, heads or rows and waits for the others at barriers. The division into shares never
// affects the results.

#include <draftscope/engine/backend.h>
#include <draftscope/profiler/span_recorder.h>
#include <cstdint>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/wide_products.h"
#include "cpu/key_lists.h"
#include "input_squares.h"
#include "kv_cache.h"
#include "model.h"
#include "numbers/rope.h"
#include "thread_team.h"
#include "top_tokens.h"
#include "workspace.h"

namespace draftscope::engine::cpu {

/// Ids of span names, looked up once.
struct SpanNames {
  SpanNames() = default;
  explicit SpanNames(profiler::SpanRecorder* recorder);
  traces::StringId layer, attention_norm, qkv, rope, attention, output_projection, mlp_norm, gate_up, down,
      head;
};

/// The keys of a batch's rows: in layers that attend to everything, and in layers with a window.
struct LayerKeys {
  KeyLists full, windowed;
};

/// Resources that outlive a pass; owned by the backend.
struct Engine {
  const Model& model;
  const Matrices& matrices;  ///< the model's matrices, or a copy of them in another format
  const Kernels& kernels;
  const Rope& rope;
  const Rope& local_rope;  ///< rotation in layers with a window
  KvCache& cache;
  Workspace& workspace;
  ThreadTeam& team;
  WideProducts* wide;  ///< null: our kernels at any width
  TopTokens& top;
  profiler::SpanRecorder* recorder;
  const SpanNames& names;
  InputSquares* squares = nullptr;  ///< null = not wanted
};

class ForwardPass {
 public:
  ForwardPass(Engine& engine, const LayerKeys& keys, const Batch& batch, Outputs& outputs);
  /// Called by every thread of the team.
  void operator()(std::int32_t thread);

 private:
  struct Share {
    std::int64_t begin, end;
    std::int64_t granule;  ///< Parts are whole multiples of this, except for the last.
  };

  /// Whether oneDNN multiplies this matrix.
  [[nodiscard]] bool is_wide(const Matrix& matrix) const { return wide_ && !matrix.is_packed(); }
  /// Number of outputs that are never divided between shares, counted from a matrix's first, in a product of
  /// `outputs` outputs.
  [[nodiscard]] std::int64_t granule_of(const Matrix& matrix, std::int64_t outputs) const;
  [[nodiscard]] Share share_of(std::int64_t n, std::int64_t granule, std::int32_t thread) const;
  [[nodiscard]] Share share_of_outputs(const Matrix& matrix, std::int32_t thread) const;
  [[nodiscard]] profiler::ScopedSpan span(std::int32_t thread, traces::StringId name_id,
                                          std::int32_t layer) const;
  void load_inputs(std::int32_t thread);
  void copy_hidden(std::int32_t thread, std::int32_t boundary);
  /// Rows to be multiplied with a matrix.
  struct Inputs {
    const float* values;
    const float* norm;  ///< null = no normalisation
    std::int32_t rows;
  };
  const std::byte* prepare(std::int32_t thread, const Inputs& inputs, const Matrix& matrix,
                           std::vector<float>* squares);
  void add_squares(std::int32_t thread, const Inputs& inputs, std::vector<float>& sums);
  using LayerSquares = std::vector<float> InputSquares::Layer::*;
  /// Sums of squares to add to; null if they are not wanted.
  [[nodiscard]] std::vector<float>* squares_of(std::int32_t layer, LayerSquares which) const;
  void product(std::int32_t thread, const Matrix& matrix, const std::byte* set, std::int32_t rows,
               Share share, bool accumulate, float* out, std::int64_t out_stride);
  void wide_product(std::int32_t thread, const Matrix& matrix, const std::byte* set, std::int32_t rows,
                    Share share, bool accumulate, float* out, std::int64_t out_stride);
  /// Angles of a layer, [rows][rotary_width / 2]; null if the layer does not rotate.
  struct Angles {
    const float* cosine;
    const float* sine;
  };
  [[nodiscard]] Angles angles_of(std::int32_t layer) const;
  [[nodiscard]] Angles angles_to_come(std::int32_t layer) const;
  void turn(float* head, Angles angles, std::int32_t row) const;
  /// The last product of a sublayer, its input and the following norm.
  struct LastProduct {
    const Matrix& matrix;
    const float* input;  ///< [rows][columns]
    const float* norm;   ///< norm of the output; null = none
    std::vector<float>* squares;
    traces::StringId name;
  };
  void finish_sublayer(std::int32_t thread, std::int32_t layer, const LastProduct& last);
  void add_to_residual(std::int32_t thread, const float* norm);
  void attention_sublayer(std::int32_t thread, std::int32_t layer);
  void project_qkv(std::int32_t thread, std::int32_t layer, const std::byte* set);
  void normalise_heads(std::int32_t thread, std::int32_t layer);
  void rotate_and_store(std::int32_t thread, std::int32_t layer);
  void attend(std::int32_t thread, std::int32_t layer);
  void attend_one(std::int32_t thread, std::int32_t layer, std::int32_t kv_head, std::int32_t row);
  void mlp_sublayer(std::int32_t thread, std::int32_t layer);
  void activate(const Layer& weights, std::int64_t first, std::int64_t n);
  void finish_logits(float* logits, std::int64_t n) const;
  void multiply_head(std::int32_t thread, const std::byte* set, std::int32_t head_rows);
  void merge_top(std::int32_t thread, std::int32_t head_rows);
  void head(std::int32_t thread);

  Engine& engine_;
  const speculation::ModelShape& shape_;
  Workspace& workspace_;
  const LayerKeys& keys_;
  const Batch& batch_;
  Outputs& outputs_;
  const ProductKernels& products_;
  float epsilon_;
  std::int32_t rows_;
  std::int32_t threads_;
  bool wide_;
};

}  // namespace draftscope::engine::cpu
