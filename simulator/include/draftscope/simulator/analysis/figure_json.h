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

/// A figure with its value, whatever it is a figure of.
struct NamedFigure {
  std::string_view key;  ///< of the catalogue
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

/// Adds the figures to an object. What can't be given is null, and so is an object of which nothing can.
void add_figures(nlohmann::ordered_json& object, std::span<const NamedFigure> figures);

/// Adds the figures to an object of CSV cells, with '_' for '.' in keys and `prefix` before them: an interval
/// as two cells, `_low` and `_high`, a list as none.
void add_csv_figures(nlohmann::ordered_json& row, std::span<const NamedFigure> figures,
                     const std::string& prefix = {});

/// The object that all figures of `source` make.
template <typename Source>
[[nodiscard]] nlohmann::ordered_json figures_object(std::span<const FigureOf<Source>> catalogue,
                                                    const Source& source) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  add_figures(object, named_figures(catalogue, source));
  return object;
}

/// A Markdown table of the catalogue, a line a figure: its key, title, unit and meaning.
template <typename Source>
[[nodiscard]] std::string figures_markdown(std::span<const FigureOf<Source>> catalogue) {
  std::string text = "| key | title | unit | meaning |\n|---|---|---|---|\n";
  for (const FigureOf<Source>& figure : catalogue)
    text += "| `" + figure.key + "` | " + figure.title + " | " + figure.unit + " | " + figure.explanation +
            " |\n";
  return text;
}

}  // namespace draftscope::simulator
