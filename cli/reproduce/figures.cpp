// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/figures.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/prices/closed_forms.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "report/curve_report.h"
#include "reproduce/searches.h"

namespace draftscope::cli {

namespace {

using simulator::ConventionFigures;
using simulator::FigureOf;

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();
constexpr double ns_per_ms = 1e6;
constexpr std::string_view crosses = " Crosses are published values, of other models and machines.";

/// Sentence on what a figure counts, by the words of the publication's convention where it has some.
std::string sentence_of(const ExperimentRow& experiment, const FigureOf<ConventionFigures>& figure) {
  const simulator::ConventionRow& row =
      simulator::conventions()[static_cast<std::size_t>(experiment.convention)];
  const std::string_view counted = figure.key == "speedup"           ? row.speed
                                   : figure.key == "accepted_length" ? row.accepted_length
                                   : figure.key == "acceptance_rate" ? row.acceptance
                                                                     : std::string_view();
  if (counted.empty()) return figure.explanation + ".";
  return fmt::format("Measured {}: {}.", figure.title, counted);
}

/// The figure's value as it is drawn: of a duration its milliseconds.
double value_of_figure(const FigureOf<ConventionFigures>& figure, const ConventionFigures& figures) {
  const double value = simulator::figure_number(figure.get(figures)).value_or(not_there);
  return figure.format == simulator::FigureFormat::duration ? value / ns_per_ms : value;
}

std::string axis_title(const FigureOf<ConventionFigures>& figure) {
  return figure.title + (figure.format == simulator::FigureFormat::duration ? ", ms" : "");
}

/// Published values of a setting at a place of the x axis.
void add_published(ChartSeries& series, const Reproduction& reproduction, const FilledSetting& setting,
                   std::string_view figure, double place) {
  for (const double value : published_values(reproduction, setting, figure)) {
    series.x.push_back(place);
    series.y.push_back(value);
  }
}

/// A figure over the values of the axis; of the speedup also what was predicted, beside what was measured of
/// the same kind.
Chart curve_chart(const Reproduction& reproduction, const std::vector<MeasuredSetting>& settings,
                  const std::string& key) {
  const FigureOf<ConventionFigures>& figure = convention_figure(key);
  const bool is_speedup = key == "speedup";
  const ExperimentRow& experiment = *reproduction.experiment;
  Chart chart{.title = fmt::format("{}: {}", experiment.item, figure.title),
              .x_title = experiment.axis.key,
              .y_title = axis_title(figure)};
  std::vector<std::string> values;
  for (const MeasuredSetting& measured : settings)
    if (!measured.setting->value.empty()) values.push_back(measured.setting->value);
  if (values.empty()) return chart;
  const std::vector<double> places = places_of(values, values, chart);
  ChartSeries measured_series{.name = "measured", .is_joined = true, .x = places};
  ChartSeries published{.name = "published", .color = 2, .mark = ChartMark::cross};
  ChartSeries decode{.name = "measured without prefill", .color = 6, .is_joined = true, .x = places};
  ChartSeries predicted_series{.name = "predicted without prefill",
                               .color = 3,
                               .mark = ChartMark::ring,
                               .is_joined = true,
                               .is_dashed = true,
                               .x = places};
  for (const MeasuredSetting& measured : settings) {
    const FilledSetting& setting = *measured.setting;
    if (setting.value.empty()) continue;
    const double place = places[measured_series.y.size()];
    measured_series.y.push_back(value_of_figure(figure, measured.all));
    add_published(published, reproduction, setting, key, place);
    const WrittenAnswer* answer = predicted(reproduction, setting);
    const auto interval = answer == nullptr ? std::nullopt : answer->interval_95;
    decode.y.push_back(decode_speedup(measured).value_or(not_there));
    predicted_series.y.push_back(answer == nullptr ? not_there : answer->speedup);
    predicted_series.low.push_back(interval ? interval->low : not_there);
    predicted_series.high.push_back(interval ? interval->high : not_there);
  }
  chart.sentence = sentence_of(experiment, figure);
  chart.series = {std::move(measured_series)};
  if (is_speedup) {
    chart.level = 1.0;
    if (reproduction.prediction) {
      chart.sentence += " Rings were predicted before, with the 95 % interval where there is one.";
      chart.series.push_back(std::move(decode));
      chart.series.push_back(std::move(predicted_series));
    }
  }
  if (!published.x.empty()) {
    chart.sentence += crosses;
    chart.series.push_back(std::move(published));
  }
  return chart;
}

/// A figure of each setting by category of prompts.
Chart table_chart(const Reproduction& reproduction, const std::vector<MeasuredSetting>& settings,
                  const std::string& key) {
  const FigureOf<ConventionFigures>& figure = convention_figure(key);
  std::vector<const MeasuredSetting*> shown;
  for (const MeasuredSetting& measured : settings)
    if (std::isfinite(value_of_figure(figure, measured.all))) shown.push_back(&measured);
  const std::vector<std::string> categories = categories_of(settings);
  Chart chart{.title = fmt::format("{}: {}", reproduction.experiment->item, figure.title),
              .y_title = axis_title(figure),
              .places = {"all"},
              .sentence = sentence_of(*reproduction.experiment, figure)};
  for (const std::string& category : categories) chart.places.push_back(simulator::category_name(category));
  if (key == "speedup") chart.level = 1.0;
  const double places = static_cast<double>(std::max<std::size_t>(shown.size(), 1)) + 1.0;
  chart.bar_width = 1.0 / places;
  ChartSeries published{.name = "published", .color = 0, .mark = ChartMark::cross};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const MeasuredSetting& measured = *shown[i];
    ChartSeries& series = chart.series.emplace_back();
    series.name = measured.setting->row.label;
    series.color = series_color(i);
    series.mark = ChartMark::bar;
    const double offset = (static_cast<double>(i) + 1.0) / places - 0.5;
    series.x.push_back(offset);
    series.y.push_back(value_of_figure(figure, measured.all));
    for (std::size_t place = 0; place < categories.size(); ++place) {
      const ConventionFigures* part = part_of(measured, categories[place]);
      series.x.push_back(static_cast<double>(place) + 1.0 + offset);
      series.y.push_back(part == nullptr ? not_there : value_of_figure(figure, *part));
    }
    add_published(published, reproduction, *measured.setting, key,
                  static_cast<double>(categories.size()) + 1.0 + offset);
  }
  if (!published.x.empty()) {
    chart.places.emplace_back("published");
    chart.sentence += crosses;
    chart.series.push_back(std::move(published));
  }
  return chart;
}

/// Stacked bars of the settings: `value(setting, part)` in ms of each part in its order.
template <typename Value>
Chart stacked_chart(const std::vector<MeasuredSetting>& settings, const std::vector<std::string>& parts,
                    const Value& value) {
  Chart chart{.y_title = "ms per output token"};
  std::vector<double> tops(settings.size(), 0.0);
  for (const MeasuredSetting& measured : settings) chart.places.push_back(shown_name(*measured.setting));
  for (std::size_t part = 0; part < parts.size(); ++part) {
    ChartSeries series{.name = parts[part], .color = series_color(part), .mark = ChartMark::bar};
    for (std::size_t i = 0; i < settings.size(); ++i) {
      series.x.push_back(static_cast<double>(i));
      series.low.push_back(tops[i]);
      series.y.push_back(tops[i] += value(settings[i], part) / ns_per_ms);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::vector<Chart> phase_charts(const Reproduction& reproduction,
                                const std::vector<MeasuredSetting>& settings) {
  const std::vector<std::size_t> phases = phases_of(settings);
  std::vector<std::string> names;
  names.reserve(phases.size());
  for (const std::size_t phase : phases)
    names.emplace_back(traces::phase_name(static_cast<traces::Phase>(phase)));
  std::vector<Chart> charts{
      stacked_chart(settings, names, [&](const MeasuredSetting& measured, std::size_t i) {
        return phase_ns_per_token(measured.run->all, phases[i]).value_or(0.0);
      })};
  charts[0].title = reproduction.experiment->item;
  charts[0].sentence = "Measured wall time of each phase over output tokens, prefill included.";
  if (reproduction.operations.empty()) return charts;
  std::vector<std::string> kinds(simulator::operation_kinds.begin(), simulator::operation_kinds.end());
  charts.push_back(stacked_chart(settings, kinds, [&](const MeasuredSetting& measured, std::size_t kind) {
    return kind_ns_per_token(reproduction, measured, kind);
  }));
  charts[1].title = "The same by kind of operation";
  charts[1].sentence =
      "Measured time of these operations in drafting and verification over output tokens; the "
      "prefill, the host and what stands between operations are left out.";
  return charts;
}

/// Mean and standard deviation of each block of values: 64 as in Draft & Verify, Figure 5, of a long series.
void add_blocks(ChartSeries& series, const std::vector<double>& values) {
  constexpr std::size_t max_points = 160;
  constexpr std::size_t paper_block = 64;
  const std::size_t block = values.size() >= 10 * paper_block
                                ? paper_block
                                : std::max<std::size_t>(1, (values.size() + max_points - 1) / max_points);
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    double count = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t i = begin; i < std::min(begin + block, values.size()); ++i) {
      if (!std::isfinite(values[i])) continue;
      count += 1.0;
      sum += values[i];
      squares += values[i] * values[i];
    }
    const double mean = count > 0.0 ? sum / count : not_there;
    const double deviation = count > 0.0 ? std::sqrt(std::max(squares / count - mean * mean, 0.0)) : 0.0;
    series.x.push_back(static_cast<double>(begin) + static_cast<double>(block - 1) / 2.0);
    series.y.push_back(mean);
    if (block == 1) continue;
    series.low.push_back(mean - deviation);
    series.high.push_back(mean + deviation);
  }
}

/// Series of one title, such as the thresholds of all exits, as lines of one chart: at most seven of them.
Chart series_chart(const simulator::RunDecisions& run, const simulator::DecisionsOfKind& kind,
                   const simulator::SeriesRow& row) {
  constexpr std::size_t max_lines = 7;
  Chart chart{.title = fmt::format("{}: {}", run.run->specification, row.title),
              .x_title = fmt::format("{} decision", kind.kind),
              .y_title = std::string(row.title),
              .sentence = std::string(row.explanation) + "."};
  std::vector<const simulator::DecisionSeries*> lines;
  for (const simulator::DecisionSeries& series : kind.series)
    if (series.row == &row) lines.push_back(&series);
  const std::size_t stride = (lines.size() + max_lines - 1) / max_lines;
  for (std::size_t i = 0; i < lines.size(); i += stride) {
    ChartSeries& series = chart.series.emplace_back();
    if (row.per_exit) series.name = fmt::format("exit {}", lines[i]->exit);
    series.color = chart.series.size();
    series.mark = ChartMark::none;
    series.is_joined = true;
    add_blocks(series, lines[i]->values);
    if (i == 0 && !series.low.empty())
      chart.sentence += fmt::format(" A point is a mean of {:.0f}, with its standard deviation.",
                                    series.x.size() < 2 ? 1.0 : series.x[1] - series.x[0]);
  }
  return chart;
}

Chart persistence_chart(const simulator::RunDecisions& run) {
  Chart chart{.title = fmt::format("{}: how long sets persist", run.run->specification),
              .x_title = "tokens apart",
              .y_title = "layers in common",
              .sentence =
                  "Layers in both sets over layers in either, mean over pairs of sets so many tokens "
                  "apart."};
  ChartSeries& series = chart.series.emplace_back();
  series.is_joined = true;
  for (const simulator::Persistence& gap : run.persistence) {
    series.x.push_back((gap.min_gap + gap.max_gap) / 2.0);
    series.y.push_back(gap.jaccard);
  }
  return chart;
}

/// Speedup of each request in the order of decoding, and of all up to it (SWIFT, Figure 6).
Chart stream_chart(const Reproduction& reproduction, const traces::Run& run) {
  Chart chart{.title = fmt::format("{}: speedup along the stream", run.specification),
              .x_title = "requests, in the order of decoding",
              .y_title = "speedup",
              .level = 1.0,
              .sentence =
                  "Measured wall time of vanilla decoding over the run's on the same prompt: of one "
                  "request, and of all so far."};
  ChartSeries each{.name = "this request", .color = 6};
  ChartSeries all{.name = "all so far", .mark = ChartMark::none, .is_joined = true};
  const traces::Run* baseline = reproduction.measured->figures.baseline;
  std::map<std::pair<traces::PromptId, std::int32_t>, double> baseline_ns;
  std::vector<const traces::Request*> requests;
  for (const traces::Request& request : reproduction.measured->recording->requests) {
    if (baseline != nullptr && request.run_id == baseline->id)
      baseline_ns[{request.prompt_id, request.repeat}] =
          static_cast<double>(request.end_ns - request.start_ns);
    if (request.run_id == run.id) requests.push_back(&request);
  }
  std::sort(requests.begin(), requests.end(),
            [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
  double all_ns = 0.0, all_baseline_ns = 0.0;
  for (const traces::Request* request : requests) {
    const auto other = baseline_ns.find({request->prompt_id, request->repeat});
    if (other == baseline_ns.end() || request->end_ns <= request->start_ns) continue;
    const auto ns = static_cast<double>(request->end_ns - request->start_ns);
    for (ChartSeries* series : {&each, &all})
      series->x.push_back(static_cast<double>(series->x.size()) + 1.0);
    each.y.push_back(other->second / ns);
    all.y.push_back((all_baseline_ns += other->second) / (all_ns += ns));
  }
  chart.series = {std::move(each), std::move(all)};
  return chart;
}

std::vector<Chart> decision_charts(const Reproduction& reproduction) {
  std::vector<Chart> charts;
  for (const simulator::RunDecisions& run : reproduction.decisions) {
    if (!run.kinds.empty()) charts.push_back(stream_chart(reproduction, *run.run));
    for (const simulator::DecisionsOfKind& kind : run.kinds) {
      std::vector<const simulator::SeriesRow*> drawn;
      for (const simulator::DecisionSeries& series : kind.series) {
        if (std::find(drawn.begin(), drawn.end(), series.row) != drawn.end()) continue;
        drawn.push_back(series.row);
        charts.push_back(series_chart(run, kind, *series.row));
      }
    }
    if (!run.persistence.empty()) charts.push_back(persistence_chart(run));
  }
  return charts;
}

Chart closed_form_chart(const Reproduction& reproduction) {
  Chart chart{.title = reproduction.experiment->item,
              .x_title = "draft tokens K",
              .y_title = "speedup",
              .level = 1.0,
              .sentence =
                  "Computed, not measured: the draft is twice as fast as the target, and every draft "
                  "token is accepted with the same probability."};
  const ClosedForm form = closed_form();
  for (std::size_t i = 0; i < form.acceptance_rates.size(); ++i) {
    ChartSeries& series = chart.series.emplace_back();
    series.name = fmt::format("{:.0f} % accepted", 100.0 * form.acceptance_rates[i]);
    series.color = series_color(i);
    series.is_joined = true;
    series.x.assign(form.lengths.begin(), form.lengths.end());
    series.y = form.speedup[i];
  }
  return chart;
}

}  // namespace

ClosedForm closed_form() {
  constexpr double draft_cost = 0.5;
  constexpr std::int32_t max_length = 12;
  ClosedForm form{.lengths = {}, .acceptance_rates = {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95}, .speedup = {}};
  for (std::int32_t length = 1; length <= max_length; ++length) form.lengths.push_back(length);
  for (const double alpha : form.acceptance_rates) {
    std::vector<double>& speedups = form.speedup.emplace_back();
    for (const std::int32_t length : form.lengths)
      speedups.push_back(*simulator::leviathan_speedup(alpha, length, draft_cost));
  }
  return form;
}

std::vector<Chart> charts_of(const Reproduction& reproduction) {
  const ExperimentRow& experiment = *reproduction.experiment;
  if (experiment.printer == Printer::closed_form) return {closed_form_chart(reproduction)};
  if (reproduction.policy && experiment.printer == Printer::trials)
    return {trials_chart(*reproduction.policy)};
  if (reproduction.policy) return {sets_chart(*reproduction.policy)};
  if (experiment.printer == Printer::decisions) return decision_charts(reproduction);
  const std::vector<MeasuredSetting> settings = settings_measured(reproduction);
  if (experiment.printer == Printer::phases) return phase_charts(reproduction, settings);
  std::vector<Chart> charts;
  for (const std::string& key : experiment.figures)
    charts.push_back(experiment.printer == Printer::curve ? curve_chart(reproduction, settings, key)
                                                          : table_chart(reproduction, settings, key));
  return charts;
}

}  // namespace draftscope::cli
