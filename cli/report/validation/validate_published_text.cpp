// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "report/validation/validate_published.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Backtest;
using simulator::BacktestBound;
using simulator::BoundKind;
using simulator::BoundUnit;

std::string cells_table(const Backtest& test, const Glyphs& glyphs) {
  Table table({{"model", Align::left},
               {"task", Align::left},
               {"setting", Align::left},
               {"source", Align::left},
               {"predicted"},
               {"published"},
               {"difference"},
               {"error"}});
  for (const simulator::BacktestCell& cell : test.cells)
    table.add_row({printable(cell.model), printable(cell.task), printable(cell.setting),
                   printable(cell.source), fmt::format("{:.4f}", cell.predicted),
                   fmt::format("{:.3f}", cell.published),
                   signed_text(cell.difference(), 4, glyphs.characters()),
                   signed_text(100.0 * cell.relative_error(), 1, glyphs.characters()) + " %"});
  return table.text(2, glyphs.columns);
}

std::string cells_text(const Backtest& test, const Glyphs& glyphs) {
  const simulator::ErrorSummary errors = simulator::error_summary(test.cells);
  return fmt::format("{}{}\n", test.title,
                     test.is_consistency_check ? " (consistency check: published against published)"
                     : test.bounds.empty()     ? " (for information)"
                                               : "") +
         cells_table(test, glyphs) +
         fmt::format("  mean error {:.2f} %, greatest {:.2f} %, bias {:+.2f} %\n\n",
                     100.0 * errors.mean_absolute, 100.0 * errors.greatest, 100.0 * errors.mean);
}

std::string orderings_text(const simulator::OrderingBacktest& orderings, const Glyphs& glyphs) {
  Table table({{"model", Align::left},
               {"task", Align::left},
               {"DEL"},
               {"FS"},
               {"LayerSkip"},
               {"in order", Align::left},
               {"by eTPL", Align::left}});
  const auto verdict = [](const simulator::ThreeStrategies& values) {
    return values.ordered() ? "yes" : "no";
  };
  std::size_t with_etpl = 0;
  std::size_t ordered_by_etpl = 0;
  for (const simulator::OrderingCell& cell : orderings.cells) {
    table.add_row({printable(cell.model), printable(cell.task), fmt::format("{:.2f}", cell.speedup.del),
                   fmt::format("{:.2f}", cell.speedup.fs), fmt::format("{:.2f}", cell.speedup.layerskip),
                   verdict(cell.speedup), cell.etpl ? verdict(*cell.etpl) : std::string(glyphs.absent())});
    with_etpl += cell.etpl ? 1 : 0;
    ordered_by_etpl += cell.etpl && cell.etpl->ordered() ? 1 : 0;
  }
  return "DEL's tables: DEL at least as fast as FS, FS as LayerSkip (consistency check: published against "
         "published)\n" +
         table.text(2, glyphs.columns) +
         fmt::format("  eTPL orders {} of {} the same way (for information)\n\n", ordered_by_etpl, with_etpl);
}

/// The value with one digit more than its limit, so that a close call shows.
std::string value_text(const BacktestBound& bound, double value, int more_digits) {
  switch (bound.unit) {
    case BoundUnit::share:
      return fmt::format("{:.{}f} %", 100.0 * value, 1 + more_digits);
    case BoundUnit::speedup:
      return fmt::format("{:.{}f}", value, 3 + more_digits);
    case BoundUnit::cells:
      return fmt::format("{:.0f}", value);
  }
  return "";
}

const char* verdict(const BacktestBound& bound) {
  if (!bound.held()) return "MISSED";
  return bound.held_strictly() ? "held" : "held to the limit's digit";
}

std::string bounds_text(const simulator::PublishedBacktests& found, const Glyphs& glyphs) {
  Table table({{"bounds", Align::left},
               {"", Align::left},
               {"found"},
               {"limit"},
               {"", Align::left},
               {"set on", Align::left},
               {"basis of the limit", Align::left}});
  const auto add = [&](const std::string& name, const std::vector<BacktestBound>& bounds) {
    for (const BacktestBound& bound : bounds)
      table.add_row(
          {name, bound.quantity, value_text(bound, bound.found, 1),
           (bound.kind == BoundKind::at_most ? "at most " : "at least ") + value_text(bound, bound.limit, 0),
           verdict(bound), bound.date, bound.basis});
  };
  for (const Backtest& test : found.tables) add(test.name, test.bounds);
  add("orderings", found.orderings.bounds);
  return table.text(0, glyphs.columns);
}

}  // namespace

std::string published_text(const simulator::PublishedBacktests& found, const Glyphs& glyphs) {
  std::string text;
  for (const Backtest& test : found.tables) text += cells_text(test, glyphs);
  text += orderings_text(found.orderings, glyphs) + bounds_text(found, glyphs);
  const std::vector<BacktestBound> bounds = found.bounds();
  const auto held =
      std::count_if(bounds.begin(), bounds.end(), [](const BacktestBound& bound) { return bound.held(); });
  return text +
         fmt::format(
             "\n{} of {} bounds held. Limits of mean errors are stated to 0.1 % and compared to that digit.\n"
             "DEL's tables round eTPL to three decimals: an error of up to {:.1f} % on average in what "
             "LayerSkip's predictions start from.\n",
             held, bounds.size(), 100.0 * found.etpl_rounding);
}

}  // namespace draftscope::cli
