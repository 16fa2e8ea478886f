// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Operations of rounds with their mean time in the round: from kernels on a GPU, where a layer's products may
// take several, or from host spans on a CPU. (simulator/analysis/operations.h selects the rows and computes
// their times.)

#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

struct OperationRound {
  std::int32_t verify_rows = 0;
  std::int32_t draft_steps = 0;
  std::int32_t root = 0;
  speculation::DraftSublayers draft;  ///< As in RoundContext; the target's weights.
  std::int32_t n_layers = 0;
  /// Whether the verification's operations are not all of `verify_rows` rows; then it gives no times.
  bool mixed_rows = false;
};
using OperationRounds = std::unordered_map<traces::RoundId, OperationRound>;

struct TimedOperation {
  bool is_layer = false;  ///< A whole layer; else `operation`.
  speculation::Operation operation = speculation::Operation::qkv;
  double ns = 0.0;  ///< Time of one execution; for `small`, of all three of a layer.
};

/// Calls the visitor with each operation, the rows of an execution and its mean context. Rounds that are not
/// in `rounds` are skipped. `go_on` is called from time to time. Errors: unreadable tables, `go_on` returned
/// false.
[[nodiscard]] Result<void> visit_operation_times(
    traces::Reader& reader, const traces::Recording& recording, bool on_gpu, const OperationRounds& rounds,
    const std::function<void(const TimedOperation&, std::int32_t rows, double context)>& visit,
    const std::function<bool()>& go_on = {});

}  // namespace draftscope::simulator
