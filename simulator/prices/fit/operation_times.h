// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Operations of rounds with their mean time in the round: from kernels on a GPU, where a layer's products may
// take several, from host spans on a CPU (simulator/analysis/operations.h has which rows, and what each
// took).

#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "prices/fit/cost_work.h"

namespace draftscope::simulator {

/// Sublayers that one draft step runs.
struct DraftLayers {
  std::int32_t attention = 0;
  std::int32_t mlp = 0;
};

struct OperationRound {
  std::int32_t verify_rows = 0;
  std::int32_t draft_steps = 0;
  std::int32_t root = 0;
  DraftLayers draft;
  std::int32_t n_layers = 0;
  bool mixed_rows = false;  ///< the verification's layers differ in rows: nothing is said of it
};
using OperationRounds = std::unordered_map<traces::RoundId, OperationRound>;

struct TimedOperation {
  bool is_layer = false;  ///< a whole layer; else `operation`
  speculation::Operation operation = speculation::Operation::qkv;
  double ns = 0.0;  ///< of one execution; `small`: all three of a layer
};

/// Rows of an execution and its mean context. Rounds that are not in `rounds` are passed over. Errors: also
/// `go_on`, asked now and then, says no.
[[nodiscard]] Result<void> visit_operation_times(
    traces::Reader& reader, const traces::Recording& recording, bool on_gpu, const OperationRounds& rounds,
    const std::function<void(const TimedOperation&, std::int32_t rows, double context)>& visit,
    const std::function<bool()>& go_on = {});

}  // namespace draftscope::simulator
