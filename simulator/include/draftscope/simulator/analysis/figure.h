// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A figure as data: its name for programs, its title and meaning for people, and how it is taken from what
// was measured or predicted. The catalogues (figure_tables.h) list all of them;
// texts, JSON, CSV, cli/OUTPUT.md and the app's tables are made from the catalogues.

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

/// How a figure is written for people. Programs get the value as it is.
enum class FigureFormat : std::uint8_t {
  text,
  count,            ///< a whole number
  number,           ///< three significant digits
  ratio,            ///< likewise, of what is compared with 1: "< 0.001" where it is too small to matter
  percent,          ///< a share
  factor,           ///< "1.52×"
  speedup,          ///< likewise; the run that it refers to shows "baseline"
  duration,         ///< nanoseconds, with the unit that fits
  bytes,            ///< with the unit that fits
  duration_if_any,  ///< likewise; a dash where it is 0
  p_value,
  interval,  ///< "1.42–1.57"
  repeats,   ///< median and range
  match,     ///< "yes", or "no (2 of 12)"
  list,      ///< JSON only
};

/// A figure of each repeat and what sums them up.
struct RepeatValues {
  std::vector<double> values;
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
};

/// Prompts whose output differs, of those that were compared.
struct PromptMatch {
  std::size_t differing = 0;
  std::size_t compared = 0;
};

/// The value of a figure; std::monostate where it can't be given.
using FigureValue = std::variant<std::monostate, std::int64_t, double, std::string, Interval, RepeatValues,
                                 PromptMatch, std::vector<std::int64_t>, std::vector<PositionAcceptance>>;

/// One row of a catalogue of figures of `Source`.
template <typename Source>
struct FigureOf {
  /// Name in JSON and, with '_' for '.', in CSV. "speedup.value" is `value` in the object `speedup`.
  std::string key;
  std::string title;        ///< head of its column in texts and in the app
  std::string unit;         ///< "ns", "tokens/s"; empty for counts, shares, ratios and texts
  std::string explanation;  ///< one sentence without its final stop; Markdown code spans are allowed
  FigureFormat format = FigureFormat::number;
  std::function<FigureValue(const Source&)> get;
};

template <typename T>
[[nodiscard]] FigureValue figure_value(const std::optional<T>& value) {
  return value ? FigureValue(*value) : FigureValue();
}

/// The value as a number to sort by; of an interval the low end. Absent for what has none.
[[nodiscard]] std::optional<double> figure_number(const FigureValue& value);

/// Null if the catalogue has no such key.
template <typename Source>
[[nodiscard]] const FigureOf<Source>* find_figure(std::span<const FigureOf<Source>> catalogue,
                                                  std::string_view key) {
  for (const FigureOf<Source>& figure : catalogue)
    if (figure.key == key) return &figure;
  return nullptr;
}

}  // namespace draftscope::simulator
