// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of the catalogues as cells of a table in the terminal.

#include <draftscope/simulator/analysis/figure_tables.h>
#include <string>
#include <vector>

#include "terminal/glyphs.h"
#include "terminal/table.h"

namespace draftscope::cli {

/// A value as its format has it; a dash where it can't be given.
[[nodiscard]] std::string figure_cell(simulator::FigureFormat format, const simulator::FigureValue& value,
                                      const Glyphs& glyphs);

/// The same of a figure of `source`.
template <typename Source>
[[nodiscard]] std::string figure_cell(const simulator::FigureOf<Source>& figure, const Source& source,
                                      const Glyphs& glyphs) {
  return figure_cell(figure.format, figure.get(source), glyphs);
}

/// Titles of a table's figures, as columns to the right of those that name the row.
[[nodiscard]] std::vector<Column> with_figure_columns(std::vector<Column> columns,
                                                      simulator::FigureTable table);

/// Cells of a table's figures, to the right of those that name the row. `all` says which run is the baseline.
[[nodiscard]] std::vector<std::string> with_figure_cells(std::vector<std::string> cells,
                                                         simulator::FigureTable table,
                                                         const simulator::Figures& figures,
                                                         const simulator::RecordingFigures& all,
                                                         const Glyphs& glyphs);

/// "1.52×", "baseline" or a dash.
[[nodiscard]] std::string speedup_cell(const simulator::Figures& figures,
                                       const simulator::RecordingFigures& all, const Glyphs& glyphs);

}  // namespace draftscope::cli
