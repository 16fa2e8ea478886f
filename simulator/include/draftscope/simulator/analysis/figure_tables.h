// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Catalogue of all measured figures: those of a run, and those of a run by a publication's convention.
// (Predicted figures are in answer_figures.h.) To add a figure, add one row: JSON, CSV, the tables of
// cli/OUTPUT.md and the app's table of runs then have it. A text table shows it if its key is in
// figure_table(). All functions are thread-safe.

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figures.h>
#include <cstdint>
#include <span>
#include <string_view>

namespace draftscope::simulator {

using MeasuredFigure = FigureOf<Figures>;

/// Rows in order of JSON and CSV. Keys are unique, and keys of one object are adjacent.
[[nodiscard]] std::span<const MeasuredFigure> measured_figures();

/// Figures of a speedup or of a ratio across recordings; measured_figures() lists them below "speedup.".
[[nodiscard]] std::span<const FigureOf<Speedup>> ratio_figures();

/// Figures of a comparison of outputs; measured_figures() lists them below "identity.".
[[nodiscard]] std::span<const FigureOf<OutputIdentity>> identity_figures();

/// Row with this key; a row without title or value if there is none.
[[nodiscard]] const MeasuredFigure& measured_figure(std::string_view key);
[[nodiscard]] const FigureOf<Speedup>& ratio_figure(std::string_view key);
[[nodiscard]] const FigureOf<OutputIdentity>& identity_figure(std::string_view key);

/// Tables for people, which show some of the figures.
enum class FigureTable : std::uint8_t {
  speed,              ///< `draftscope report`: speed of each run.
  speed_by_category,  ///< `draftscope report`: speed of each run by category of prompts.
  drafting,           ///< `draftscope report`: acceptance and cost of drafts.
  memory,             ///< `draftscope report`: memory that each run used.
  comparison,         ///< `draftscope compare`: runs of every recording.
  comparison_csv,     ///< `draftscope compare --csv`
  app,                ///< The app's table of runs; it can show all other figures, too.
};

/// Keys of a table's columns, from left to right.
[[nodiscard]] std::span<const std::string_view> figure_table(FigureTable table);

/// Figures of a run by a publication's convention (analysis/conventions.h).
[[nodiscard]] std::span<const FigureOf<ConventionFigures>> convention_figures();

}  // namespace draftscope::simulator
