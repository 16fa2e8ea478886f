// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/published/fixed_length_rows.h"

#include <fmt/format.h>

namespace draftscope::simulator {

tl::unexpected<Error> fail_at(const PublishedRow& row, const Error& error) {
  return fail("{}, {}, {}, {}: {}", row.source, row.model, row.task, row.method, error.message);
}

Result<std::vector<FixedLengthRow>> fixed_length_rows(std::span<const PublishedRow> rows) {
  std::vector<FixedLengthRow> result;
  for (const PublishedRow& row : rows) {
    if (row.paper != "DEL" || !row.method.starts_with("LS(") || !row.etpl || !row.measured_speedup) continue;
    if (!row.n_layers || !row.exit_layer || !row.gamma || *row.etpl <= 0.0 || *row.measured_speedup <= 0.0)
      return fail_at(row, {"found no L, E, gamma, eTPL and speedup above 0, expected all of them"});
    const double loaded = static_cast<double>(*row.gamma) * *row.exit_layer + *row.n_layers;
    result.push_back({&row,
                      {.n_layers = *row.n_layers,
                       .exit_layer = *row.exit_layer,
                       .gamma = *row.gamma,
                       .mean_accepted_length = *row.etpl * loaded,
                       .speedup = *row.measured_speedup}});
  }
  return result;
}

std::string setting_of(const FixedLengthRow& fixed) {
  return fmt::format("exit={},gamma={}", fixed.cell.exit_layer, fixed.cell.gamma);
}

Result<double> overhead_from(std::span<const FixedLengthRow> rows, const PublishedRow& of,
                             const std::function<bool(const FixedLengthRow&)>& teaches) {
  std::vector<FixedLengthCell> taught;
  for (const FixedLengthRow& row : rows)
    if (teaches(row)) taught.push_back(row.cell);
  const auto h = fit_pass_overhead(taught);
  if (!h) return fail_at(of, h.error());
  return *h;
}

}  // namespace draftscope::simulator
