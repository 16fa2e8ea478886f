// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A kernel, an operation or a whole pass as it was timed on a machine: what a calibration measures and what
// a cost model is fitted to. Values; all functions are thread-safe. Times in nanoseconds.

#include <draftscope/speculation/operation.h>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// Sublayers that a draft runs.
struct DraftSublayers {
  std::int32_t attention = 0;
  std::int32_t mlp = 0;
  double weights_share = 1.0;  ///< bits of a weight that they read, in those of the target's
  friend bool operator==(const DraftSublayers&, const DraftSublayers&) = default;
};

enum class KernelKind : std::uint8_t {
  operation,       ///< one execution of an operation inside a pass; of `small` a layer's three
  draft_step,      ///< some sublayers and the head, as a draft runs them
  target_pass,     ///< the same as target steps and verifications run them
  drafting_round,  ///< what a round with a draft takes beside its passes
  step_round,      ///< the same without one
};
[[nodiscard]] std::string_view kernel_kind_name(KernelKind kind);

struct KernelForm {
  KernelKind kind = KernelKind::operation;
  Operation operation = Operation::qkv;  ///< of kind operation
  DraftSublayers sublayers;              ///< of passes: how many run
  std::int32_t rows = 1;
  double context = 0.0;  ///< K/V rows before the first row
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
