// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A figure as data: its name for programs, its title and meaning for people, and how it is computed from
// measured or predicted results. The catalogues (figure.h) list all of them. Texts, JSON, CSV,
// cli/OUTPUT.md and the app's tables are made from the catalogues.

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace draftscope::simulator {

/// Format of a figure for people. Programs get the value unchanged.
enum class FigureFormat : std::uint8_t {
  text,
  count,    ///< A whole number.
  number,   ///< Three significant digits.
  ratio,    ///< Three significant digits of a number that is compared with 1; "< 0.001" where it is too small
            ///< to matter.
  percent,  ///< A share.
  factor,   ///< "1.52×"
  speedup,  ///< A factor ("1.52×"); the run that it refers to shows "baseline".
  duration,         ///< Nanoseconds, printed in a suitable unit.
  bytes,            ///< Bytes, printed in a suitable unit.
  duration_if_any,  ///< A duration, or a dash where it is 0.
  p_value,
  interval,  ///< "1.42–1.57"
  repeats,   ///< Median and range.
  match,     ///< "yes", or "no (2 of 12)"
  list,      ///< JSON only.
};

/// Values of a figure per repeat, with their summary.
struct RepeatValues {
  std::vector<double> values;
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
};

/// Number of prompts whose output differs, and number of prompts compared.
struct PromptMatch {
  std::size_t differing = 0;
  std::size_t compared = 0;
};

/// The value of a figure; std::monostate where there is none.
using FigureValue = std::variant<std::monostate, std::int64_t, double, std::string, Interval, RepeatValues,
                                 PromptMatch, std::vector<std::int64_t>, std::vector<PositionAcceptance>>;

/// One row of a catalogue of figures of `Source`.
template <typename Source>
struct FigureOf {
  /// Name in JSON and, with '_' for '.', in CSV. "speedup.value" is `value` in the object `speedup`.
  std::string key;
  std::string title;        ///< Column head in texts and in the app.
  std::string unit;         ///< "ns", "tokens/s"; empty for counts, shares, ratios and texts
  std::string explanation;  ///< One sentence without its final stop; Markdown code spans are allowed.
  FigureFormat format = FigureFormat::number;
  std::function<FigureValue(const Source&)> get;
};

template <typename T>
[[nodiscard]] FigureValue figure_value(const std::optional<T>& value) {
  return value ? FigureValue(*value) : FigureValue();
}

/// Value as a number to sort by; for an interval its lower end. Absent if the value is not numeric.
[[nodiscard]] std::optional<double> figure_number(const FigureValue& value);

/// Row with this key; null if the catalogue has none.
template <typename Source>
[[nodiscard]] const FigureOf<Source>* find_figure(std::span<const FigureOf<Source>> catalogue,
                                                  std::string_view key) {
  for (const FigureOf<Source>& figure : catalogue)
    if (figure.key == key) return &figure;
  return nullptr;
}

/// Row with this key; a row without title or value if the catalogue has none.
template <typename Source>
[[nodiscard]] const FigureOf<Source>& figure_at(std::span<const FigureOf<Source>> catalogue,
                                                std::string_view key) {
  static const FigureOf<Source> none{.format = FigureFormat::text,
                                     .get = [](const Source&) { return FigureValue(); }};
  const FigureOf<Source>* figure = find_figure(catalogue, key);
  return figure == nullptr ? none : *figure;
}

// Catalogue of all measured figures: those of a run, and those of a run by a publication's convention.
// (Predicted figures are in answer_figures.h.) To add a figure, add one row: JSON, CSV, the tables of
// cli/OUTPUT.md and the app's table of runs then have it. A text table shows it if its key is in
// figure_table(). All functions are thread-safe.

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
