// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/compare_text.h"

#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/figure.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/figure_text.h"
#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::FigureTable;
using simulator::measured_figure;
using simulator::ratio_figure;
using simulator::RunComparison;
using simulator::significance_level;

/// A … Z, AA, AB, …
std::string file_label(std::size_t index) {
  constexpr std::size_t letters = 26;
  std::string label;
  for (std::size_t left = index + 1; left > 0; left = (left - 1) / letters)
    label.insert(label.begin(), static_cast<char>('A' + (left - 1) % letters));
  return label;
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + number(value);
}

std::string difference_cell(const std::optional<double>& from, const std::optional<double>& to,
                            const Glyphs& glyphs) {
  if (!from || !to) return std::string(glyphs.absent());
  return signed_number(*to - *from);
}

std::string shortened(const std::string& text) {
  constexpr std::size_t most = 48;
  const std::string clean = printable(text);
  if (clean.empty()) return "(not stated)";
  return clean.size() <= most ? clean : clean.substr(0, most) + "...";
}

std::string meta_section(const Comparisons& comparisons, const Glyphs& glyphs) {
  std::string text;
  for (std::size_t i = 0; i < comparisons.against_first.size(); ++i) {
    const auto& differences = comparisons.against_first[i].meta;
    if (differences.empty()) continue;
    Table table({"", "key", "A", file_label(i + 1)}, {});
    bool changes = false;
    for (const simulator::MetaDifference& difference : differences) {
      changes = changes || difference.changes_experiment;
      table.add_row({difference.changes_experiment ? "!" : "", printable(difference.key),
                     shortened(difference.baseline), shortened(difference.comparison)});
    }
    text += fmt::format("Recorded differently in A and {}{}\n{}\n", file_label(i + 1),
                        changes ? " (! = another experiment: the ratios below have more than one cause)" : "",
                        table.text(2, glyphs.columns));
  }
  return text;
}

/// One line per recording whose device trace is finer or coarser than that of the first.
std::string tracing_section(const Comparisons& comparisons) {
  std::string text;
  for (std::size_t i = 0; i < comparisons.against_first.size(); ++i)
    if (const auto& cost = comparisons.against_first[i].tracing)
      text += fmt::format("{} against {}: {}\n", file_label(cost->is_of_comparison ? i + 1 : 0),
                          file_label(cost->is_of_comparison ? 0 : i + 1), cost->sentence);
  return text.empty() ? text : text + '\n';
}

std::string runs_section(const Comparisons& comparisons, const Glyphs& glyphs) {
  const bool several = comparisons.recordings.size() > 1;
  Table table(with_figure_columns({{several ? "file" : "", Align::left}, {"run", Align::left}},
                                  FigureTable::comparison));
  for (std::size_t i = 0; i < comparisons.recordings.size(); ++i) {
    const simulator::RecordingFigures& all = comparisons.recordings[i].figures;
    for (const simulator::RunFigures& run : all.runs)
      table.add_row(with_figure_cells({several ? file_label(i) : "", printable(run.all.run->specification)},
                                      FigureTable::comparison, run.all, all, glyphs));
  }
  return fmt::format("{}: speedup over the vanilla run of the same recording\n{}",
                     several ? "Within each recording" : "Runs", table.text(2, glyphs.columns));
}

const Figures* figures_of_category(const simulator::RunFigures& run, const std::string& category) {
  if (category.empty()) return &run.all;
  for (const Figures& figures : run.by_category)
    if (figures.category == category) return &figures;
  return nullptr;
}

std::string lead_cell(const simulator::Winner& winner, const Glyphs& glyphs) {
  if (!winner.lead) return std::string(glyphs.absent());
  return factor(winner.lead->value, glyphs) + ' ' + (is_clear(winner) ? "" : "(not clear) ") + "over " +
         printable(winner.runner_up->specification);
}

/// One category of one recording, and the run that decoded it fastest.
struct Contest {
  const simulator::MeasuredRecording* measured;
  std::string label;
  simulator::Winner winner;
};

std::vector<Contest> contests_of(const Comparisons& comparisons) {
  std::vector<Contest> contests;
  for (std::size_t i = 0; i < comparisons.recordings.size(); ++i) {
    const simulator::MeasuredRecording& measured = comparisons.recordings[i];
    const std::string file = comparisons.recordings.size() > 1 ? file_label(i) : "";
    for (simulator::Winner& winner : simulator::winners(*measured.recording)) {
      const std::string space = file.empty() || winner.category.empty() ? "" : " ";
      std::string label = file + space + printable(winner.category);
      if (label.empty()) label = "all";
      contests.push_back({&measured, std::move(label), std::move(winner)});
    }
  }
  return contests;
}

std::string contest_cell(const Contest& contest, const traces::Run& setting, const Glyphs& glyphs) {
  for (const simulator::RunFigures& run : contest.measured->figures.runs) {
    if (!simulator::is_same_setting(*run.all.run, setting)) continue;
    const Figures* figures = figures_of_category(run, contest.winner.category);
    if (figures == nullptr) break;
    const std::string mark = contest.winner.run->id == run.all.run->id ? "* " : "";
    if (run.all.run->is_baseline) return mark + factor(1.0, glyphs);
    return mark + speedup_cell(*figures, contest.measured->figures, glyphs);
  }
  return std::string(glyphs.absent());
}

/// Every setting once, in order of first appearance.
std::vector<const traces::Run*> settings_of(const Comparisons& comparisons) {
  std::vector<const traces::Run*> settings;
  for (const simulator::MeasuredRecording& measured : comparisons.recordings)
    for (const simulator::RunFigures& run : measured.figures.runs)
      if (std::none_of(settings.begin(), settings.end(), [&](const traces::Run* known) {
            return simulator::is_same_setting(*known, *run.all.run);
          }))
        settings.push_back(run.all.run);
  return settings;
}

std::string winners_section(const Comparisons& comparisons, const Glyphs& glyphs) {
  const std::vector<Contest> contests = contests_of(comparisons);
  if (contests.size() < 2) return "";
  Table table({{"run", Align::left}});
  for (const Contest& contest : contests) table.add_column(contest.label);
  for (const traces::Run* setting : settings_of(comparisons)) {
    table.add_row({printable(setting->specification)});
    for (const Contest& contest : contests) table.add_cell(contest_cell(contest, *setting, glyphs));
  }
  Table leads({"prompts", "fastest", "its lead"}, {});
  for (const Contest& contest : contests)
    leads.add_row(
        {contest.label, printable(contest.winner.run->specification), lead_cell(contest.winner, glyphs)});
  return fmt::format("\nWhich wins where: speedup by category of the prompts, * the fastest\n{}\n{}",
                     table.text(2, glyphs.columns), leads.text(2, glyphs.columns));
}

/// Ratio of two speeds, of which a source states one without prompts.
std::optional<double> stated_ratio(const Figures& a, const Figures& b) {
  const auto& from = a.throughput.tokens_per_second;
  const auto& to = b.throughput.tokens_per_second;
  constexpr std::string_view key = "tokens_per_second";
  const bool is_stated = a.stated.contains(key) || b.stated.contains(key);
  return is_stated && from && to && *from > 0.0 ? std::optional(*to / *from) : std::nullopt;
}

/// Whether figures of the whole runs are of the requests that were compared: those of the ratio, or of the
/// texts without one. Without both, a common prompt is enough.
bool covers_compared_requests(const RunComparison& run, const Figures& a, const Figures& b) {
  if (!run.ratio && !run.identity) return run.prompts > 0;
  const std::size_t compared = run.ratio ? run.ratio->pairs : run.identity->compared_requests;
  return std::cmp_equal(a.throughput.requests, compared) && std::cmp_equal(b.throughput.requests, compared);
}

std::string across_section(const Comparisons& comparisons, std::size_t index, const Glyphs& glyphs) {
  const simulator::MeasuredRecording& first = comparisons.recordings.front();
  const simulator::MeasuredRecording& other = comparisons.recordings[index];
  const RecordingComparison& comparison = comparisons.against_first[index - 1];
  const std::string label = file_label(index);
  std::string text = fmt::format("Across recordings, {} against A: a ratio, not a speedup\n", label);
  if (comparison.runs.empty()) return text + "  no run of the same setting in both\n";
  const auto ratio_of = [&](const RunComparison& run) {
    return run.ratio
               ? std::optional(run.ratio->value)
               : stated_ratio(figures_of(first, run.baseline->id), figures_of(other, run.comparison->id));
  };
  if (std::none_of(comparison.runs.begin(), comparison.runs.end(),
                   [&](const RunComparison& run) { return run.prompts > 0 || ratio_of(run); }))
    return text + "  no prompt in both\n";
  const simulator::MeasuredFigure& tokens_per_second = measured_figure("tokens_per_second");
  const simulator::MeasuredFigure& length = measured_figure("mean_accepted_length");
  const simulator::MeasuredFigure& acceptance = measured_figure("acceptance_rate");
  const simulator::FigureOf<simulator::Speedup>& interval = ratio_figure("interval_95");
  const simulator::FigureOf<simulator::OutputIdentity>& same_text = simulator::identity_figure("same_text");
  Table table({{"run", Align::left},
               {"prompts"},
               {tokens_per_second.title + " A"},
               {tokens_per_second.title + ' ' + label},
               {"difference"},
               {"ratio"},
               {interval.title},
               {ratio_figure("p_value").title + " (Holm)"},
               {"", Align::left},
               {length.title},
               {acceptance.title},
               {same_text.title}});
  bool leaves_out = false;
  for (const RunComparison& run : comparison.runs) {
    const Figures& a = figures_of(first, run.baseline->id);
    const Figures& b = figures_of(other, run.comparison->id);
    std::string name = printable(run.baseline->specification);
    if (run.baseline->specification != run.comparison->specification)
      name += " / " + printable(run.comparison->specification);
    const auto dash = std::string(glyphs.absent());
    const bool is_of_compared = covers_compared_requests(run, a, b);
    const auto difference = [&](std::string_view key, const std::optional<double>& from,
                                const std::optional<double>& to) {
      const bool is_stated = a.stated.contains(key) || b.stated.contains(key);
      if (is_of_compared || is_stated) return difference_cell(from, to, glyphs);
      leaves_out = leaves_out || (run.prompts > 0 && from && to);
      return std::string(glyphs.absent());
    };
    table.add_row(
        {name,
         run.ratio       ? std::to_string(run.ratio->prompts)
         : ratio_of(run) ? dash
                         : std::to_string(run.prompts),
         number(a.throughput.tokens_per_second, glyphs), number(b.throughput.tokens_per_second, glyphs),
         difference(tokens_per_second.key, a.throughput.tokens_per_second, b.throughput.tokens_per_second),
         ratio_of(run) ? factor(*ratio_of(run), glyphs) : dash,
         run.ratio ? figure_cell(interval, *run.ratio, glyphs) : dash,
         run.adjusted_p_value ? p_value_text(*run.adjusted_p_value) : dash,
         run.ratio         ? verdict(run.ratio->value, run.adjusted_p_value)
         : ratio_of(run)   ? "of stated rates"
         : run.prompts > 0 ? "no speed in both"
                           : "no common prompt",
         difference(length.key, a.acceptance.mean_accepted_length, b.acceptance.mean_accepted_length),
         difference(acceptance.key, a.acceptance.acceptance_rate, b.acceptance.acceptance_rate),
         run.identity ? figure_cell(same_text, *run.identity, glyphs) : dash});
  }
  text += table.text(2, glyphs.columns);
  if (leaves_out)
    text += "  no difference where a file's figures cover further requests than those compared\n";
  return text;
}

std::string explanation(bool across) {
  std::string text =
      "  p: two-sided Wilcoxon signed-rank test over the prompts' log ratios, that both are equally fast\n";
  if (across)
    text +=
        "  p (Holm): corrected for the number of runs compared. Prompts that agree show a difference between "
        "the two\n"
        "  recordings, not its cause: a busier or hotter machine slows every prompt alike\n";
  return text;
}

}  // namespace

std::string verdict(double ratio, const std::optional<double>& adjusted_p_value) {
  if (!adjusted_p_value) return "too few prompts";
  if (*adjusted_p_value >= significance_level) return "no clear difference";
  return ratio > 1.0 ? "faster" : "slower";
}

std::string compare_text(const Comparisons& comparisons, const Glyphs& glyphs) {
  const bool several = comparisons.recordings.size() > 1;
  std::string text = meta_section(comparisons, glyphs) + tracing_section(comparisons);
  for (std::size_t i = 0; i < comparisons.recordings.size(); ++i)
    text += (several ? file_label(i) + '\n' : "") + header_text(comparisons.recordings[i], glyphs) + '\n';
  for (const simulator::MeasuredRecording& measured : comparisons.recordings)
    if (measured.timeline) text += timeline_text(*measured.timeline, glyphs) + '\n';
  if (std::ranges::all_of(comparisons.recordings, [](const auto& one) { return one.timeline.has_value(); }))
    return text;
  text += runs_section(comparisons, glyphs);
  text += winners_section(comparisons, glyphs);
  for (std::size_t i = 1; i < comparisons.recordings.size(); ++i)
    text += '\n' + across_section(comparisons, i, glyphs);
  return text + explanation(several);
}

namespace {

using simulator::NamedFigure;

Json comparison_json(const RunComparison& run) {
  return {{"specification", run.baseline->specification},
          {"baseline_run_id", run.baseline->id.value()},
          {"comparison_run_id", run.comparison->id.value()},
          {"ratio_across_recordings",
           run.ratio ? simulator::figures_object(simulator::ratio_figures(), *run.ratio) : Json(nullptr)},
          {"adjusted_p_value", json_or_null(run.adjusted_p_value)},
          {"verdict", run.ratio ? Json(verdict(run.ratio->value, run.adjusted_p_value)) : Json(nullptr)},
          {"identity", run.identity ? simulator::figures_object(simulator::identity_figures(), *run.identity)
                                    : Json(nullptr)}};
}

Json difference_json(const simulator::MetaDifference& difference) {
  return {{"key", difference.key},
          {"first", difference.baseline},
          {"other", difference.comparison},
          {"changes_experiment", difference.changes_experiment}};
}

Json winner_json(const simulator::Winner& winner) {
  return {{"category", winner.category.empty() ? Json(nullptr) : Json(winner.category)},
          {"run_id", winner.run->id.value()},
          {"runner_up_run_id", winner.runner_up->id.value()},
          {"lead", winner.lead ? simulator::figures_object(simulator::ratio_figures(), *winner.lead)
                               : Json(nullptr)}};
}

std::vector<NamedFigure> shown_figures(const Figures& figures) {
  std::vector<NamedFigure> shown;
  for (const std::string_view key : simulator::figure_table(simulator::FigureTable::comparison_csv)) {
    const simulator::MeasuredFigure& figure = simulator::measured_figure(key);
    shown.push_back({figure.key, figure.format, figure.get(figures)});
  }
  return shown;
}

/// Cells of the ratio to the first recording and its interval; without values if there is none.
std::vector<NamedFigure> ratio_cells(const RunComparison* across) {
  std::vector<NamedFigure> shown;
  for (const std::string_view key : {"value", "interval_95"}) {
    const simulator::FigureOf<simulator::Speedup>& figure = simulator::ratio_figure(key);
    const bool has_ratio = across != nullptr && across->ratio;
    shown.push_back(
        {figure.key, figure.format, has_ratio ? figure.get(*across->ratio) : simulator::FigureValue()});
  }
  return shown;
}

}  // namespace

std::string compare_json(const Comparisons& comparisons) {
  Json json = new_document();
  json["recordings"] = json_list(comparisons.recordings, [](const simulator::MeasuredRecording& measured) {
    Json entry = recording_json(measured);
    add_timeline(entry, measured);
    const traces::Run* baseline = measured.figures.baseline;
    entry["baseline_run_id"] = baseline == nullptr ? Json(nullptr) : Json(baseline->id.value());
    entry["runs"] = json_list(measured.figures.runs,
                              [](const simulator::RunFigures& run) { return figures_json(run.all); });
    entry["winners"] = json_list(simulator::winners(*measured.recording), winner_json);
    return entry;
  });
  Json& against = json["against_first"] = Json::array();
  for (std::size_t i = 0; i < comparisons.against_first.size(); ++i) {
    Json entry = Json::object();
    entry["recording"] = i + 1;
    entry["meta_differences"] = json_list(comparisons.against_first[i].meta, difference_json);
    const auto& tracing = comparisons.against_first[i].tracing;
    entry["tracing_factor"] = tracing ? Json(tracing->factor) : Json(nullptr);
    entry["runs"] = json_list(comparisons.against_first[i].runs, comparison_json);
    against.push_back(std::move(entry));
  }
  return json_text(json);
}

std::string compare_csv(const Comparisons& comparisons) {
  std::string text;
  for (std::size_t i = 0; i < comparisons.recordings.size(); ++i) {
    const simulator::MeasuredRecording& measured = comparisons.recordings[i];
    for (const simulator::RunFigures& run : measured.figures.runs) {
      const Figures& figures = run.all;
      const RunComparison* across = nullptr;
      if (i > 0)
        for (const RunComparison& candidate : comparisons.against_first[i - 1].runs)
          if (candidate.comparison->id == figures.run->id) across = &candidate;
      Json row = Json::object();
      row["recording"] = measured.recording->path.filename().string();
      row["specification"] = figures.run->specification;
      row["is_baseline"] = figures.run->is_baseline;
      simulator::add_csv_figures(row, shown_figures(figures));
      simulator::add_csv_figures(row, ratio_cells(across), "ratio_across_recordings_");
      row["adjusted_p_value"] = across != nullptr ? json_or_null(across->adjusted_p_value) : Json(nullptr);
      add_csv_row(text, row);
    }
  }
  return text;
}

}  // namespace draftscope::cli
