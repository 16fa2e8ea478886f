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

/// A pass as the kernels' parts see it.
struct PassView {
  const DeviceModel& model;
  const Workspace& work;
  const DeviceLayer& layer;
  std::int32_t row_begin;  ///< first row that is computed
  std::int32_t want_logits;
  PassExtent extent;
  const PassRow* row;  ///< from row_begin on
};

struct TopParams {
  PassParams pass;
  std::int32_t k;
  HeadResult* top;  ///< [head rows][k]
};

/// States of the bank that are moved (move_states), from and to, or compared (compare_states).
struct NumberPair {
  std::int32_t first, second;
};

struct BankParams {
  PassParams pass;
  std::int32_t n;
  const NumberPair* pairs;
  float* cosines;  ///< output of compare_states
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

/// K/V of cache row `from` moves to row `to`, in all layers; in order.
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
