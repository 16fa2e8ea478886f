// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/backtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "answers/published/backtest_limits.h"

namespace draftscope::simulator {

namespace {

/// The rows of one model and task.
struct Rows {
  const PublishedRow* del = nullptr;
  const PublishedRow* fs = nullptr;
  const PublishedRow* layerskip = nullptr;
};

ThreeStrategies values(const Rows& rows, std::optional<double> PublishedRow::*column) {
  return {.del = (rows.del->*column).value_or(0.0),
          .fs = (rows.fs->*column).value_or(0.0),
          .layerskip = (rows.layerskip->*column).value_or(0.0)};
}

}  // namespace

Result<OrderingBacktest> backtest_orderings(std::span<const PublishedRow> rows) {
  std::map<std::tuple<std::string, std::string, std::string>, Rows> groups;
  for (const PublishedRow& row : rows) {
    if (row.source != "DEL Table 1" && row.source != "DEL Table 2") continue;
    Rows& group = groups[{row.source, row.model, row.task}];
    if (row.method == "DEL") group.del = &row;
    if (row.method.starts_with("FS(")) group.fs = &row;
    if (row.method.starts_with("LS(")) group.layerskip = &row;
  }
  OrderingBacktest result;
  for (const auto& [key, group] : groups) {
    const auto& [source, model, task] = key;
    const auto lacks = [](const PublishedRow* row) { return row == nullptr || !row->measured_speedup; };
    if (lacks(group.del) || lacks(group.fs) || lacks(group.layerskip))
      return fail("{}, {}, {}: found not all of DEL, FS and LS, expected a measured speedup of each", source,
                  model, task);
    OrderingCell& cell = result.cells.emplace_back();
    cell.model = model;
    cell.task = task;
    cell.speedup = values(group, &PublishedRow::measured_speedup);
    if (group.del->etpl && group.fs->etpl && group.layerskip->etpl)
      cell.etpl = values(group, &PublishedRow::etpl);
  }
  const auto out_of_order = std::count_if(result.cells.begin(), result.cells.end(),
                                          [](const OrderingCell& cell) { return !cell.speedup.ordered(); });
  DRAFTSCOPE_TRY_ASSIGN(
      result.bounds,
      limits_of("orderings", {{"DEL, FS, LayerSkip out of order", static_cast<double>(out_of_order)},
                              {"cells", static_cast<double>(result.cells.size())}}));
  return result;
}

}  // namespace draftscope::simulator
