// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The figure of an experiment as charts (report/chart_svg.h), with axes as in the publication.

#include <cstdint>
#include <string>
#include <vector>

#include "report/chart_svg.h"
#include "reproduce/reproduction.h"

namespace draftscope::cli {

/// Charts of what was measured, predicted and published; without a form to draw, none.
[[nodiscard]] std::vector<Chart> charts_of(const Reproduction& reproduction);

/// Speedup of a fixed number K of draft tokens by a draft that is twice as fast as the target, of which each
/// is accepted with the same probability (Draft & Verify, Figure 2).
struct ClosedForm {
  std::vector<std::int32_t> lengths;
  std::vector<double> acceptance_rates;      ///< Probability of a token; a curve each.
  std::vector<std::vector<double>> speedup;  ///< [acceptance rate][length]
};
[[nodiscard]] ClosedForm closed_form();

}  // namespace draftscope::cli
