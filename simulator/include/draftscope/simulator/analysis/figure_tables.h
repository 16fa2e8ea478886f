// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every measured figure, once: those of a run, and those of a run by a publication's convention (those that
// are predicted: answer_figures.h). A new figure is one more row: JSON, CSV, the tables of cli/OUTPUT.md and
// the app's table of runs then have it, and a text table that should show it names its key in figure_table().
// All functions are thread-safe.

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figures.h>
#include <cstdint>
#include <span>
#include <string_view>

namespace draftscope::simulator {

using MeasuredFigure = FigureOf<Figures>;

/// In the order of JSON and CSV; keys are unique, and those of one object follow one another.
[[nodiscard]] std::span<const MeasuredFigure> measured_figures();

/// The figures of a speedup or of a ratio across recordings; measured_figures() has them below "speedup.".
[[nodiscard]] std::span<const FigureOf<Speedup>> ratio_figures();

/// The figures of a comparison of outputs; measured_figures() has them below "identity.".
[[nodiscard]] std::span<const FigureOf<OutputIdentity>> identity_figures();

/// Row of the catalogue with this key; one without title or value if there is none.
[[nodiscard]] const MeasuredFigure& measured_figure(std::string_view key);
[[nodiscard]] const FigureOf<Speedup>& ratio_figure(std::string_view key);
[[nodiscard]] const FigureOf<OutputIdentity>& identity_figure(std::string_view key);

/// Tables for people, which show some of the figures.
enum class FigureTable : std::uint8_t {
  speed,              ///< `draftscope report`: how fast
  speed_by_category,  ///< likewise, by category of prompts
  drafting,           ///< `draftscope report`: how drafts fared and what they cost
  memory,             ///< `draftscope report`: what each run held
  comparison,         ///< `draftscope compare`: the runs of every recording
  comparison_csv,     ///< `draftscope compare --csv`
  app,                ///< the app's table of runs; it can show all others, too
};

/// Keys of a table's columns, from left to right.
[[nodiscard]] std::span<const std::string_view> figure_table(FigureTable table);

/// The figures of a run by a publication's convention (analysis/conventions.h).
[[nodiscard]] std::span<const FigureOf<ConventionFigures>> convention_figures();

}  // namespace draftscope::simulator
