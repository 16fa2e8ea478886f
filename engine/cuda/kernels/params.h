// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The arguments of kernels: plain data that the host fills and a launch copies.

#include "launch_shape.h"
#include "pass_state.h"

namespace draftscope::engine::cuda {

/// Parameters of every kernel that runs in a pass.
struct PassParams {
  DeviceModel model;
  Workspace work;
  const DeviceLayer* layers;
  std::int32_t slot;       ///< place in the sequence of layers
  std::int32_t row_begin;  ///< first row of this launch
  std::int32_t want_logits;
  ProductShape product;  ///< of a product's launch
};

/// A pass as an operation of a program sees it (program.h).
struct PassView {
  const DeviceModel& model;
  const Workspace& work;
  const DeviceLayer& layer;
  std::int32_t row_begin;
  std::int32_t want_logits;
};

struct TopParams {
  PassParams pass;
  std::int32_t k;
  HeadResult* top;  ///< [head rows][k]
};

/// Names the loop of a graph to what goes on with it (go_on_if() of device.h).
using LoopHandle = std::uint64_t;

/// Parameters of the kernels that end a draft step.
struct StepParams {
  PassParams pass;
  LoopHandle loop;        ///< whose body the step is
  std::int32_t has_loop;  ///< 0 = the host launches as many steps as a draft may have
};

/// Where the residual stream is kept (keep_states): [rows after the root][d_model], unless the pass keeps its
/// states in the bank.
struct StateParams {
  PassParams pass;
  float* to;
  std::int32_t boundary;  ///< place among the boundaries that the pass keeps
};

/// States of the bank that are moved (move_states), from and to, or compared (compare_states).
struct NumberPair {
  std::int32_t first, second;
};

struct BankParams {
  PassParams pass;
  std::int32_t n;
  const NumberPair* pairs;
  float* cosines;  ///< of compare_states
};

/// The norm ahead of a sublayer, or of the head.
enum class Norm : std::int32_t { attention, mlp, head };

struct WideParams {
  PassParams pass;
  std::int32_t rows;
  Norm norm;
};

/// 16-bit rows to e4m3 with a scale each (quantise_rows), or e4m3 values (widen_rows) or a matrix with groups
/// (widen_groups) to 16-bit rows.
struct QuantiseParams {
  const std::uint16_t* source;
  std::uint8_t* values;
  float* scale;
  std::uint16_t* widened;
  std::int32_t rows;
  std::int32_t depth;
};

/// A matrix of a synthetic model (make_synthetic).
struct SyntheticParams {
  std::uint16_t* values;  ///< bf16
  std::int64_t elements;
  std::uint32_t low_key, high_key;
  float scale;
};

/// K/V of cache row `from` moves to row `to`, in all layers; in order.
struct RowMove {
  std::int32_t from, to;
};

struct MoveParams {
  PassParams pass;
  std::int32_t n_layers;
  std::int32_t n_moves;
  const RowMove* moves;
};

}  // namespace draftscope::engine::cuda
