// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_json_parts.h"
#include "report/validation/validate_published.h"

namespace draftscope::cli {

namespace {

using simulator::BacktestBound;
using simulator::BoundKind;
using simulator::BoundUnit;

const char* unit_name(BoundUnit unit) {
  switch (unit) {
    case BoundUnit::share:
      return "share";
    case BoundUnit::speedup:
      return "speedup";
    case BoundUnit::cells:
      return "cells";
  }
  return "";
}

Json bounds_json(const std::vector<BacktestBound>& bounds) {
  Json json = Json::array();
  for (const BacktestBound& bound : bounds)
    json.push_back({{"quantity", bound.quantity},
                    {"unit", unit_name(bound.unit)},
                    {"kind", bound.kind == BoundKind::at_most ? "at_most" : "at_least"},
                    {"found", bound.found},
                    {"limit", bound.limit},
                    {"digit", bound.digit},
                    {"date", bound.date},
                    {"basis", bound.basis},
                    {"held", bound.held()},
                    {"held_strictly", bound.held_strictly()}});
  return json;
}

Json test_json(const simulator::Backtest& test) {
  Json json = Json::object();
  json["name"] = test.name;
  json["title"] = test.title;
  json["is_consistency_check"] = test.is_consistency_check;
  const simulator::ErrorSummary errors = simulator::error_summary(test.cells);
  json["mean_error"] = errors.mean_absolute;
  json["max_error"] = errors.greatest;
  json["bias"] = errors.mean;
  json["bounds"] = bounds_json(test.bounds);
  Json& cells = json["cells"] = Json::array();
  for (const simulator::BacktestCell& cell : test.cells)
    cells.push_back({{"model", cell.model},
                     {"task", cell.task},
                     {"setting", cell.setting},
                     {"source", cell.source},
                     {"predicted", cell.predicted},
                     {"published", cell.published},
                     {"difference", cell.difference()},
                     {"relative_error", cell.relative_error()}});
  return json;
}

Json three_json(const simulator::ThreeStrategies& values) {
  return {
      {"del", values.del}, {"fs", values.fs}, {"layerskip", values.layerskip}, {"ordered", values.ordered()}};
}

Json orderings_json(const simulator::OrderingBacktest& orderings) {
  Json json = Json::object();
  json["bounds"] = bounds_json(orderings.bounds);
  Json& cells = json["cells"] = Json::array();
  for (const simulator::OrderingCell& cell : orderings.cells)
    cells.push_back({{"model", cell.model},
                     {"task", cell.task},
                     {"speedup", three_json(cell.speedup)},
                     {"etpl", cell.etpl ? three_json(*cell.etpl) : Json(nullptr)}});
  return json;
}

}  // namespace

std::string published_json(const simulator::PublishedBacktests& found) {
  Json json = new_document();
  json["held"] = true;
  for (const BacktestBound& bound : found.bounds())
    if (!bound.held()) json["held"] = false;
  json["etpl_rounding"] = found.etpl_rounding;
  Json& tests = json["tests"] = Json::array();
  for (const simulator::Backtest& test : found.tables) tests.push_back(test_json(test));
  json["orderings"] = orderings_json(found.orderings);
  return json_text(json);
}

}  // namespace draftscope::cli
