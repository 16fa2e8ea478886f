// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The roofline (Williams, Waterman and Patterson 2009) of a model's operations on a machine: arithmetic a
// byte against arithmetic a nanosecond, as the cost law has it, under what the machine could attain.
//
// Of a GPU with a specification the roof is that specification's: its memory rate and its dense rate in the
// weights' type. Of any other machine it is the highest that the fit to the recording shows: the memory rate
// of its fastest operation, and the arithmetic of one more row over the time that such a row adds at the
// widest recorded passes. Small operations do next to no arithmetic and are left out.
//
// Modelled: as good as the cost model, without gaps between kernels, interruptions, and the correction by
// measured passes. Pure functions, safe from any thread.

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
  std::int32_t rows = 1;  ///< of each request
  double flops = 0.0;
  double bytes = 0.0;
  double ns = 0.0;
  ParameterSource source = ParameterSource::trace;  ///< of its time a byte

  [[nodiscard]] double intensity() const { return flops / bytes; }  ///< flop a byte
  [[nodiscard]] double flops_per_ns() const { return flops / ns; }  ///< 10⁹ flop a second
};

struct Roofline {
  double bytes_per_ns = 0.0;           ///< 10⁹ bytes a second
  std::optional<double> flops_per_ns;  ///< absent where no further row takes measurable time
  bool is_specified = false;           ///< the roof is a specification's, not fitted
  std::vector<RooflinePoint> points;   ///< by operation, then rows
  std::vector<CostNote> notes;

  /// Rate that a kernel of this arithmetic a byte could reach, 10⁹ flop a second.
  [[nodiscard]] double attainable(double intensity) const;
};

/// Roofline of passes with each of `rows` (a draft or target step has 1, a verification the draft's length +
/// 1) at `context` rows. Errors: a scenario that contradicts itself, rows below 1.
[[nodiscard]] Result<Roofline> roofline(const CostModel& model, const Machine& machine, double context,
                                        const std::vector<std::int32_t>& rows);

}  // namespace draftscope::simulator
