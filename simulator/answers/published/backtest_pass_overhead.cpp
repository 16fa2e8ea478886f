// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/published/backtest_pass_overhead.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace draftscope::simulator {

namespace {

Result<void> check(const FixedLengthCell& cell) {
  if (cell.exit_layer < 1 || cell.exit_layer >= cell.n_layers)
    return fail("exit layer: found {}, expected 1 to {}", cell.exit_layer, cell.n_layers - 1);
  if (cell.gamma < 1) return fail("speculation length: found {}, expected at least 1", cell.gamma);
  if (cell.mean_accepted_length > 0.0 && std::isfinite(cell.mean_accepted_length)) return {};
  return fail("mean accepted length: found {}, expected a finite number above 0", cell.mean_accepted_length);
}

double speedup(const FixedLengthCell& cell, double h) {
  const double target = cell.n_layers + h;
  return cell.mean_accepted_length * target / (cell.gamma * (cell.exit_layer + h) + target);
}

/// The h that gives the cell's own speedup: S is linear over linear in h.
double exact(const FixedLengthCell& cell) {
  const double layers = static_cast<double>(cell.gamma) * cell.exit_layer + cell.n_layers;
  return (cell.speedup * layers - cell.mean_accepted_length * cell.n_layers) /
         (cell.mean_accepted_length - cell.speedup * (cell.gamma + 1.0));
}

double squared_error(std::span<const FixedLengthCell> cells, double h) {
  double sum = 0.0;
  for (const FixedLengthCell& cell : cells) {
    const double error = std::log(speedup(cell, h) / cell.speedup);
    sum += error * error;
  }
  return sum;
}

/// Golden-section search: no derivative, and the error between two cells' h has one valley in practice.
double minimise(std::span<const FixedLengthCell> cells, double low, double high) {
  constexpr double shrink = 1.0 / std::numbers::phi;
  constexpr double tolerance = 1e-9;
  double left = high - shrink * (high - low);
  double right = low + shrink * (high - low);
  while (high - low > tolerance * (1.0 + low)) {
    if (squared_error(cells, left) <= squared_error(cells, right)) {
      high = right;
      right = left;
      left = high - shrink * (high - low);
    } else {
      low = left;
      left = right;
      right = low + shrink * (high - low);
    }
  }
  return (low + high) / 2.0;
}

}  // namespace

Result<double> pass_overhead_speedup(const FixedLengthCell& cell, double pass_overhead_layers) {
  DRAFTSCOPE_TRY(check(cell));
  if (pass_overhead_layers >= 0.0 && std::isfinite(pass_overhead_layers))
    return speedup(cell, pass_overhead_layers);
  return fail("pass overhead: found {} layers, expected a finite number of at least 0", pass_overhead_layers);
}

Result<double> fit_pass_overhead(std::span<const FixedLengthCell> cells) {
  if (cells.empty()) return fail("pass overhead: found no measured cells, expected at least one");
  // Every cell's error grows on both sides of its own h, so the best h lies between the extremes.
  double low = HUGE_VAL;
  double high = 0.0;
  for (const FixedLengthCell& cell : cells) {
    DRAFTSCOPE_TRY(check(cell));
    const double limit = cell.mean_accepted_length / (cell.gamma + 1.0);
    if (!(cell.speedup > limit && std::isfinite(cell.speedup)))
      return fail("measured speedup: found {}, expected more than the {} that any pass overhead leaves",
                  cell.speedup, limit);
    const double h = std::max(exact(cell), 0.0);
    low = std::min(low, h);
    high = std::max(high, h);
  }
  return minimise(cells, low, high);
}

}  // namespace draftscope::simulator
