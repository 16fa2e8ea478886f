// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of the catalogues as cells of a table in the terminal.

#include <draftscope/simulator/analysis/figure.h>
#include <optional>
#include <string>
#include <vector>

#include "terminal/glyphs.h"
#include "terminal/table.h"

namespace draftscope::cli {

/// A value in its format; a dash if it is absent.
[[nodiscard]] std::string figure_cell(simulator::FigureFormat format, const simulator::FigureValue& value,
                                      const Glyphs& glyphs);

/// A figure of `source` in its format; a dash if absent.
template <typename Source>
[[nodiscard]] std::string figure_cell(const simulator::FigureOf<Source>& figure, const Source& source,
                                      const Glyphs& glyphs) {
  return figure_cell(figure.format, figure.get(source), glyphs);
}

/// Appends the titles of a table's figures to the columns that name the row.
[[nodiscard]] std::vector<Column> with_figure_columns(std::vector<Column> columns,
                                                      simulator::FigureTable table);

/// Appends the cells of a table's figures to those that name the row. `all` says which run is the baseline.
[[nodiscard]] std::vector<std::string> with_figure_cells(std::vector<std::string> cells,
                                                         simulator::FigureTable table,
                                                         const simulator::Figures& figures,
                                                         const simulator::RecordingFigures& all,
                                                         const Glyphs& glyphs);

/// The narrowest predicted interval that holds a measured value, "outside" without one, or a dash where none
/// was predicted.
[[nodiscard]] std::string inside_cell(std::optional<bool> inside_80, std::optional<bool> inside_95,
                                      const Glyphs& glyphs);

/// Speedup as "1.52×", "baseline" or a dash.
[[nodiscard]] std::string speedup_cell(const simulator::Figures& figures,
                                       const simulator::RecordingFigures& all, const Glyphs& glyphs);

}  // namespace draftscope::cli
