// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Roofline (Williams, Waterman and Patterson 2009) of a model's operations on a machine. It plots arithmetic
// per byte against arithmetic per nanosecond, from the cost law, under the attainable rate.
//
// For a GPU with a specification the roof is its specified bandwidth and its dense rate in the weights' type.
// For any other machine it is the highest rate in the fit to the recording. That is the memory rate of its
// fastest operation, and the arithmetic of one more row over the time that such a row adds at the widest
// recorded passes. Small operations have almost no arithmetic and are left out.
//
// The result is modelled: as good as the cost model, without gaps between kernels, interruptions, and the
// correction by measured passes. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

/// One execution of an operation, on one GPU.
struct RooflinePoint {
  speculation::Operation operation = speculation::Operation::qkv;
  std::int32_t rows = 1;  ///< Rows of each request.
  double flops = 0.0;
  double bytes = 0.0;
  double ns = 0.0;
  ParameterSource source = ParameterSource::trace;  ///< Source of its time per byte.

  [[nodiscard]] double intensity() const { return flops / bytes; }  ///< flop per byte
  [[nodiscard]] double flops_per_ns() const { return flops / ns; }  ///< 10⁹ flop per second
};

struct Roofline {
  double bytes_per_ns = 0.0;           ///< 10⁹ bytes per second
  std::optional<double> flops_per_ns;  ///< Absent where another row adds no measurable time.
  bool is_specified = false;           ///< Whether the roof is specified, not fitted.
  std::vector<RooflinePoint> points;   ///< Ordered by operation, then rows.
  std::vector<CostNote> notes;

  /// Attainable rate at this arithmetic per byte, 10⁹ flop per second.
  [[nodiscard]] double attainable(double intensity) const;
};

/// Roofline of passes with each of `rows` (1 for a draft or target step, the draft's length + 1 for a
/// verification) at `context` rows. Errors: a scenario that contradicts itself, rows below 1.
[[nodiscard]] Result<Roofline> roofline(const CostModel& model, const Machine& machine, double context,
                                        const std::vector<std::int32_t>& rows);

}  // namespace draftscope::simulator
