// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of the catalogues as JSON objects, as cells of a CSV line, and as the table that documents them
// (cli/OUTPUT.md). Pure functions.

#include <draftscope/simulator/analysis/figure.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A figure with its value, independent of its source type.
struct NamedFigure {
  std::string_view key;  ///< Key in the catalogue.
  FigureFormat format;
  FigureValue value;
};

template <typename Source>
[[nodiscard]] std::vector<NamedFigure> named_figures(std::span<const FigureOf<Source>> catalogue,
                                                     const Source& source) {
  std::vector<NamedFigure> figures;
  figures.reserve(catalogue.size());
  for (const FigureOf<Source>& figure : catalogue)
    figures.push_back({figure.key, figure.format, figure.get(source)});
  return figures;
}

/// Adds the figures to an object. Absent values become null; so does an object all of whose values are
/// absent.
void add_figures(nlohmann::ordered_json& object, std::span<const NamedFigure> figures);

/// Adds the figures to an object of CSV cells. Keys have '_' for '.' and start with `prefix`. An interval
/// becomes two cells, `_low` and `_high`; lists are left out.
void add_csv_figures(nlohmann::ordered_json& row, std::span<const NamedFigure> figures,
                     const std::string& prefix = {});

/// Object of all figures of `source`.
template <typename Source>
[[nodiscard]] nlohmann::ordered_json figures_object(std::span<const FigureOf<Source>> catalogue,
                                                    const Source& source) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  add_figures(object, named_figures(catalogue, source));
  return object;
}

/// A Markdown table of the catalogue with one line per figure: key, title, unit and meaning.
template <typename Source>
[[nodiscard]] std::string figures_markdown(std::span<const FigureOf<Source>> catalogue) {
  std::string text = "| key | title | unit | meaning |\n|---|---|---|---|\n";
  for (const FigureOf<Source>& figure : catalogue)
    text += "| `" + figure.key + "` | " + figure.title + " | " + figure.unit + " | " + figure.explanation +
            " |\n";
  return text;
}

}  // namespace draftscope::simulator
