// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures over the values of one parameter: `draftscope report --over`, and the curves of `reproduce`.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <optional>
#include <string>
#include <vector>

#include "report/chart_svg.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

/// Runs of one recording that differ in one parameter alone, in order of its values.
struct RunsOver {
  struct Point {
    std::string value;
    const simulator::RunFigures* run = nullptr;
  };
  std::string setting;  ///< Specification of the first run without the parameter.
  std::vector<Point> points;
};

/// All sets of at least two runs that differ in the parameter alone. `measured` must outlive the result.
/// Errors: no such runs; the line names the parameters that have some.
[[nodiscard]] Result<std::vector<RunsOver>> runs_over(const simulator::MeasuredRecording& measured,
                                                      const std::string& parameter);

[[nodiscard]] std::string over_text(const simulator::MeasuredRecording& measured,
                                    const std::vector<RunsOver>& curves, const std::string& parameter,
                                    const Glyphs& glyphs);
[[nodiscard]] std::string over_json(const simulator::MeasuredRecording& measured,
                                    const std::vector<RunsOver>& curves, const std::string& parameter);
/// Charts of speedup, mean accepted length and acceptance with a line for each set of runs.
[[nodiscard]] std::string over_svg(const std::vector<RunsOver>& curves, const std::string& parameter);

/// A point of a curve as a row of its table.
struct CurvePoint {
  std::string value;
  std::vector<std::string> cells;
  std::optional<double> speedup;  ///< Length of the row's bar; absent = no bar.
};

/// Table with a row for each point and a bar of its speedup, which is longest at the greatest one.
[[nodiscard]] std::string curve_table(const std::string& parameter, const std::vector<std::string>& titles,
                                      const std::vector<CurvePoint>& points, const Glyphs& glyphs);

/// Places of the values on the chart's x axis: numbers, or names one beside the other where a value is no
/// number or the greatest is at least eight times the least. `all` has the values of all series.
[[nodiscard]] std::vector<double> places_of(const std::vector<std::string>& values,
                                            std::vector<std::string> all, Chart& chart);

}  // namespace draftscope::cli
