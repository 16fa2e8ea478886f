// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/figure_text.h"

#include <fmt/format.h>

#include <cmath>

#include "terminal/numbers.h"

namespace draftscope::cli {

namespace {

using simulator::FigureFormat;
using simulator::MeasuredFigure;

std::string number_cell(FigureFormat format, double value, const Glyphs& glyphs) {
  switch (format) {
    case FigureFormat::count:
      return count(std::llround(value));
    case FigureFormat::percent:
      return percent(value);
    case FigureFormat::factor:
    case FigureFormat::speedup:
      return factor(value, glyphs);
    case FigureFormat::bytes:
      return bytes_text(value);
    case FigureFormat::duration_if_any:
      return value == 0.0 ? std::string(glyphs.absent()) : duration(value, glyphs);
    case FigureFormat::duration:
      return duration(value, glyphs);
    case FigureFormat::ratio:
      return ratio_text(value, glyphs.characters());
    case FigureFormat::p_value:
      return p_value_text(value);
    default:
      return number(value);
  }
}

struct CellWriter {
  FigureFormat format;
  const Glyphs& glyphs;

  std::string operator()(std::monostate) const { return std::string(glyphs.absent()); }
  std::string operator()(std::int64_t value) const {
    return number_cell(format, static_cast<double>(value), glyphs);
  }
  std::string operator()(double value) const { return number_cell(format, value, glyphs); }
  std::string operator()(const std::string& value) const { return printable(value); }
  std::string operator()(const simulator::Interval& value) const {
    return range_text(value.low, value.high, glyphs.characters());
  }
  std::string operator()(const simulator::RepeatValues& value) const {
    if (value.values.size() < 2) return std::string(glyphs.absent());
    return fmt::format("{:.2f} ({})", value.median, range_text(value.min, value.max, glyphs.characters()));
  }
  std::string operator()(const simulator::PromptMatch& value) const {
    if (value.differing == 0) return "yes";
    return fmt::format("no ({} of {})", value.differing, value.compared);
  }
  template <typename List>
  std::string operator()(const List& list) const {
    return count(static_cast<std::int64_t>(list.size()));
  }
};

std::string measured_cell(const MeasuredFigure& figure, const simulator::Figures& figures,
                          const simulator::RecordingFigures& all, const Glyphs& glyphs) {
  const simulator::FigureValue value = figure.get(figures);
  const bool is_baseline = all.baseline != nullptr && figures.run == all.baseline;
  if (figure.format == FigureFormat::speedup && is_baseline && std::holds_alternative<std::monostate>(value))
    return "baseline";
  return figure_cell(figure.format, value, glyphs);
}

}  // namespace

std::string figure_cell(FigureFormat format, const simulator::FigureValue& value, const Glyphs& glyphs) {
  return std::visit(CellWriter{format, glyphs}, value);
}

std::vector<Column> with_figure_columns(std::vector<Column> columns, simulator::FigureTable table) {
  for (const std::string_view key : simulator::figure_table(table))
    columns.push_back({simulator::measured_figure(key).title});
  return columns;
}

std::vector<std::string> with_figure_cells(std::vector<std::string> cells, simulator::FigureTable table,
                                           const simulator::Figures& figures,
                                           const simulator::RecordingFigures& all, const Glyphs& glyphs) {
  for (const std::string_view key : simulator::figure_table(table))
    cells.push_back(measured_cell(simulator::measured_figure(key), figures, all, glyphs));
  return cells;
}

std::string inside_cell(std::optional<bool> inside_80, std::optional<bool> inside_95, const Glyphs& glyphs) {
  if (!inside_95) return std::string(glyphs.absent());
  return inside_80.value_or(false) ? "80 %" : *inside_95 ? "95 %" : "outside";
}

std::string speedup_cell(const simulator::Figures& figures, const simulator::RecordingFigures& all,
                         const Glyphs& glyphs) {
  return measured_cell(simulator::measured_figure("speedup.value"), figures, all, glyphs);
}

}  // namespace draftscope::cli
