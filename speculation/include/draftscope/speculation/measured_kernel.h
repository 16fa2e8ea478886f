// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A kernel, an operation or a whole pass as timed on a machine: a calibration measures it and a cost model is
// fitted to it. Values; all functions are thread-safe. Times in nanoseconds.

#include <draftscope/speculation/operation.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// Sublayers that a draft runs.
struct DraftSublayers {
  std::int32_t attention = 0;
  std::int32_t mlp = 0;
  std::optional<WeightFormat> weights;  ///< Format of the draft's own weights; absent = the target's weights.
  friend bool operator==(const DraftSublayers&, const DraftSublayers&) = default;
};

enum class KernelKind : std::uint8_t {
  operation,       ///< One execution of an operation inside a pass; for `small` the three of a layer.
  draft_step,      ///< Some sublayers and the head, as a draft runs them.
  target_pass,     ///< Some sublayers and the head, as target steps and verifications run them.
  drafting_round,  ///< Time of a round with a draft outside its passes.
  step_round,      ///< Time of a round without a draft outside its pass.
};
[[nodiscard]] std::string_view kernel_kind_name(KernelKind kind);

struct KernelForm {
  KernelKind kind = KernelKind::operation;
  Operation operation = Operation::qkv;  ///< Only for the kind `operation`.
  DraftSublayers sublayers;              ///< Sublayers that a pass runs.
  std::int32_t rows = 1;
  double context = 0.0;  ///< K/V rows before the first row.
};

/// Median and quartiles.
struct Spread {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::int64_t samples = 0;
};

/// Median and quartiles of at least one value, interpolated linearly between neighbours.
[[nodiscard]] Spread spread_of(std::vector<double> values);

struct MeasuredKernel {
  KernelForm form;
  Spread ns;
};

}  // namespace draftscope::speculation
