// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes that a recording has times of, kind by kind: what a cost law must reproduce whatever it is made of.

#include <draftscope/simulator/costs/cost_parameters.h>
#include <cstdint>
#include <tuple>

namespace draftscope::simulator {

/// Passes whose prices differ in the context alone.
struct MeasuredPassKind {
  bool is_draft = false;
  /// A target step that follows another, as in vanilla decoding: it finds caches as a step left them.
  bool is_vanilla = false;
  std::int32_t attention = 0;  ///< sublayers of a draft step
  std::int32_t mlp = 0;
  std::int32_t rows = 1;      ///< of a target pass
  std::int32_t one_row = 0;   ///< of its layers that run one row: those below the exit
  std::int32_t n_layers = 1;  ///< of the model

  [[nodiscard]] bool operator<(const MeasuredPassKind& other) const {
    const auto key = [](const MeasuredPassKind& kind) {
      return std::tie(kind.is_draft, kind.is_vanilla, kind.attention, kind.mlp, kind.rows, kind.one_row,
                      kind.n_layers);
    };
    return key(*this) < key(other);
  }
};

/// How far a cost law is from kinds of passes, as standard deviations of ln(time / law).
struct CorrectionScale {
  double common = 0.0;  ///< of target passes: what neighbouring numbers of rows have in common
  double own = 0.0;     ///< of target passes: what they have not, kernels working in blocks of rows
  double drafts = 0.0;  ///< of drafts, whose depths share all kernels
};

/// Means over the passes of a kind that nothing interrupted: of a draft all steps of a round together.
struct MeasuredPass {
  MeasuredPassKind kind;
  CostVector coefficients{};
  double ns = 0.0;
  double relative_error = 0.0;  ///< standard error of `ns` / `ns`, blocks of requests being what varies
  double passes = 0.0;          ///< interrupted ones included
};

/// All passes of a recorded run that nothing interrupted, against the means of their kinds: what its rounds
/// leave in the caches, and the noise of its repeats.
struct MeasuredRun {
  std::int64_t run = 0;
  double ratio = 1.0;           ///< time / time at the means of the kinds
  double relative_error = 0.0;  ///< standard error of `ratio`, blocks of requests being what varies
};

}  // namespace draftscope::simulator
