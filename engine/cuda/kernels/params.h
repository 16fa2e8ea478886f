// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The arguments of kernels: plain data that the host fills and a launch copies.

#include "launch_shape.h"
#include "pass_state.h"

namespace draftscope::engine::cuda {

/// The model and the buffers of a pass.
struct PassParams {
  DeviceModel model;
  Workspace work;
};

/// Fields of PassState that every operation may read.
struct PassExtent {
  std::int32_t rows, first_row, shared_keys, max_keys, head_from;
};

inline constexpr PassExtent extent_of(const PassState& state) {
  return {state.rows, state.first_row, state.shared_keys, state.max_keys, state.head_from};
}

/// A pass as seen by the parts of kernels.
struct PassView {
  const DeviceModel& model;
  const Workspace& work;
  const DeviceLayer& layer;
  std::int32_t row_begin;  ///< First row that is computed.
  std::int32_t want_logits;
  PassExtent extent;
  const PassRow* row;  ///< Starts at row_begin.
};

struct TopParams {
  PassParams pass;
  std::int32_t k;
  HeadResult* top;  ///< [head rows][k]
};

/// States of the bank: source and destination of a move (move_states), or a pair to compare (compare_states).
struct NumberPair {
  std::int32_t first, second;
};

struct BankParams {
  PassParams pass;
  std::int32_t n;
  const NumberPair* pairs;
  float* cosines;  ///< Output of compare_states.
};

/// The norm before a sublayer or the head.
enum class Norm : std::int32_t { attention, mlp, head };

/// Arguments of a kernel of wide passes.
struct WideParams {
  PassParams pass;
  DeviceLayer layer;
  std::int32_t rows;
  Norm norm;
};

/// Moves K/V of cache row `from` to row `to` in all layers; moves apply in order.
struct RowMove {
  std::int32_t from, to;
};

struct MoveParams {
  PassParams pass;
  const DeviceLayer* layers;
  std::int32_t n_layers;
  std::int32_t n_moves;
  const RowMove* moves;
};

}  // namespace draftscope::engine::cuda
