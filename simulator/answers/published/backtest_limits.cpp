// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/published/backtest_limits.h"

#include <draftscope/base/csv_table.h>

#include <algorithm>
#include <string>
#include <utility>

namespace draftscope::simulator {

extern const std::string_view backtest_limits_csv;  // made from simulator/data by the build

namespace {

struct Limit {
  std::string test;
  BacktestBound bound;  ///< without what was found
};

Result<double> number_in(const CsvTable& table, std::size_t row, const char* column) {
  DRAFTSCOPE_TRY_ASSIGN(const std::optional<double> value, table.number(row, column));
  if (!value) return fail("{}: row {}: column {} is empty, expected a number", table.name(), row + 1, column);
  return *value;
}

Result<BoundUnit> unit_named(const std::string& name) {
  if (name == "share") return BoundUnit::share;
  if (name == "speedup") return BoundUnit::speedup;
  if (name == "cells") return BoundUnit::cells;
  return fail("backtest_limits.csv: unit is {}, expected share, speedup or cells", name);
}

Result<std::vector<Limit>> read_limits() {
  DRAFTSCOPE_TRY_ASSIGN(const CsvTable table, CsvTable::parse(backtest_limits_csv, "backtest_limits.csv"));
  std::vector<Limit> limits;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Limit limit;
    DRAFTSCOPE_TRY_ASSIGN(limit.test, table.text(row, "test"));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.quantity, table.text(row, "quantity"));
    DRAFTSCOPE_TRY_ASSIGN(const std::string kind, table.text(row, "kind"));
    limit.bound.kind = kind == "at_least" ? BoundKind::at_least : BoundKind::at_most;
    DRAFTSCOPE_TRY_ASSIGN(const std::string unit, table.text(row, "unit"));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.unit, unit_named(unit));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.limit, number_in(table, row, "limit"));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.digit, number_in(table, row, "digit"));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.date, table.text(row, "date"));
    DRAFTSCOPE_TRY_ASSIGN(limit.bound.basis, table.text(row, "basis"));
    limits.push_back(std::move(limit));
  }
  return limits;
}

}  // namespace

Result<std::vector<BacktestBound>> limits_where_set(std::string_view test,
                                                    const std::vector<FoundQuantity>& found) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Limit> limits, read_limits());
  std::vector<BacktestBound> bounds;
  for (const Limit& limit : limits) {
    if (limit.test != test) continue;
    const auto value = std::find_if(found.begin(), found.end(), [&](const FoundQuantity& quantity) {
      return quantity.quantity == limit.bound.quantity;
    });
    if (value == found.end())
      return fail("backtest_limits.csv: {} has no quantity {}, expected one that it finds", test,
                  limit.bound.quantity);
    bounds.push_back(limit.bound);
    bounds.back().found = value->found;
  }
  return bounds;
}

Result<std::vector<BacktestBound>> limits_of(std::string_view test, const std::vector<FoundQuantity>& found) {
  DRAFTSCOPE_TRY_ASSIGN(std::vector<BacktestBound> bounds, limits_where_set(test, found));
  if (bounds.size() != found.size())
    return fail("backtest_limits.csv: found {} limits of {}, expected one for each of {} quantities",
                bounds.size(), test, found.size());
  return bounds;
}

Result<std::vector<std::string>> tests_with_limits() {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<Limit> limits, read_limits());
  std::vector<std::string> names;
  for (const Limit& limit : limits)
    if (std::find(names.begin(), names.end(), limit.test) == names.end()) names.push_back(limit.test);
  return names;
}

}  // namespace draftscope::simulator
