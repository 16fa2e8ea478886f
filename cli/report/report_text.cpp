// SPDX-License-Identifier: GPL-3.0-or-later

#include <draftscope/simulator/analysis/question_names.h>
#include <fmt/format.h>

#include <algorithm>

#include "report/figure_text.h"
#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::FigureTable;
using simulator::RecordingFigures;

constexpr std::size_t max_positions = 32;  // Drafts are rarely longer; --json has the rest.

std::string_view source_text(simulator::BreakdownSource source) {
  switch (source) {
    case simulator::BreakdownSource::spans:
      return "from phase spans";
    case simulator::BreakdownSource::rounds:
      return "from the times of rounds";
    case simulator::BreakdownSource::none:
      break;
  }
  return "";
}

std::string breakdown_chart(const Figures& figures, const Glyphs& glyphs) {
  if (figures.breakdown.source == simulator::BreakdownSource::none)
    return figures.unknown.empty() ? "  no breakdown: the recorded times contradict the wall time\n"
                                   : "  no breakdown: its source lacks the times of phases\n";
  const auto wall_ns = static_cast<double>(figures.throughput.wall_ns);
  Table table({"phase"}, {"time", "share"}, {""});
  for (std::size_t phase = 0; phase < figures.breakdown.by_phase.size(); ++phase) {
    const auto phase_ns = static_cast<double>(figures.breakdown.by_phase[phase]);
    if (phase_ns == 0.0) continue;
    table.add_row({std::string(traces::phase_name(static_cast<traces::Phase>(phase))),
                   duration(phase_ns, glyphs), percent(phase_ns / wall_ns),
                   bar(phase_ns / wall_ns, bar_width, glyphs)});
  }
  return fmt::format("  where {} went, {}\n{}", duration(wall_ns, glyphs),
                     source_text(figures.breakdown.source), table.text(4));
}

std::string device_chart(const simulator::DeviceTime& device, const Glyphs& glyphs) {
  const auto wall_ns = static_cast<double>(device.wall_ns);
  Table table({"device"}, {"time", "share"}, {""});
  const auto add = [&](std::string name, std::int64_t ns) {
    const double share = static_cast<double>(ns) / wall_ns;
    table.add_row({std::move(name), duration(static_cast<double>(ns), glyphs), percent(share),
                   bar(share, bar_width, glyphs)});
  };
  for (std::size_t phase = 0; phase < device.busy_by_phase.size(); ++phase)
    if (device.busy_by_phase[phase] > 0)
      add(fmt::format("busy, {}", traces::phase_name(static_cast<traces::Phase>(phase))),
          device.busy_by_phase[phase]);
  if (device.gap_launch_ns > 0) add("gaps before launches", device.gap_launch_ns);
  if (device.gap_launch_ns < device.gap_ns || device.gap_ns == 0)
    add(device.gap_launch_ns > 0 ? "gaps between kernels" : "gaps", device.gap_ns - device.gap_launch_ns);
  add("host alone", device.host_ns);
  return fmt::format(
      "  the device in {} rounds with {} activities; {} of their time lies outside their round\n{}",
      count(device.rounds), count(device.activities),
      percent(static_cast<double>(device.outside_ns) / wall_ns), table.text(4));
}

std::string acceptance_chart(const simulator::Acceptance& acceptance, const Glyphs& glyphs) {
  Table table({}, {"draft position", "drafted", "reached", "accepted", "of drafted", "of reached"}, {""});
  const std::size_t shown = std::min(acceptance.by_position.size(), max_positions);
  for (std::size_t k = 0; k < shown; ++k) {
    const simulator::PositionAcceptance& position = acceptance.by_position[k];
    table.add_row({std::to_string(k), count(position.drafted), count(position.reached),
                   count(position.accepted), percent(position.of_drafted()),
                   position.reached > 0 ? percent(position.of_reached()) : "",
                   bar(position.of_reached(), bar_width, glyphs)});
  }
  std::string text = "  acceptance by draft position (bar: of reached)\n" + table.text(4);
  if (shown < acceptance.by_position.size())
    text += fmt::format("    and {} positions more\n", acceptance.by_position.size() - shown);
  return text;
}

std::string length_chart(const simulator::Acceptance& acceptance, const Glyphs& glyphs) {
  Table table({}, {"draft length", "rounds", "share"}, {""});
  std::size_t rows = 0;
  for (std::size_t length = 0; length < acceptance.draft_lengths.size() && rows < max_positions; ++length) {
    const std::int64_t rounds = acceptance.draft_lengths[length];
    if (rounds == 0) continue;
    ++rows;
    const double share = static_cast<double>(rounds) / static_cast<double>(acceptance.rounds);
    table.add_row({std::to_string(length), count(rounds), percent(share), bar(share, bar_width, glyphs)});
  }
  std::string ends;
  for (std::size_t stop = 0; stop < acceptance.draft_stops.size(); ++stop) {
    if (acceptance.draft_stops[stop] == 0) continue;
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ",
                        traces::draft_stop_name(static_cast<traces::DraftStop>(stop)),
                        count(acceptance.draft_stops[stop]));
  }
  return fmt::format("  draft lengths\n{}  drafts ended by: {}\n", table.text(4), ends);
}

/// Bars of a run's time by phase, the acceptance at each draft position, and the ends of drafts.
std::string run_charts(const Figures& figures, const Glyphs& glyphs) {
  std::string text = printable(figures.run->specification) + '\n';
  if (figures.throughput.requests == 0 && figures.stated.empty()) return text + "  no finished request\n";
  text += breakdown_chart(figures, glyphs);
  if (figures.device.wall_ns > 0) text += device_chart(figures.device, glyphs);
  if (figures.acceptance.by_position.empty()) return text;
  text += acceptance_chart(figures.acceptance, glyphs);
  return figures.acceptance.draft_lengths.empty() ? text : text + length_chart(figures.acceptance, glyphs);
}

/// One line like "    qa  2.31 s: prefill 6.1 %, draft 31.0 %, …".
std::string category_breakdown(const Figures& figures, const Glyphs& glyphs) {
  if (figures.breakdown.source == simulator::BreakdownSource::none) return {};
  std::string phases;
  const auto wall_ns = static_cast<double>(figures.throughput.wall_ns);
  for (std::size_t phase = 0; phase < figures.breakdown.by_phase.size(); ++phase) {
    const auto phase_ns = static_cast<double>(figures.breakdown.by_phase[phase]);
    if (phase_ns == 0.0) continue;
    phases += fmt::format("{}{} {}", phases.empty() ? "" : ", ",
                          traces::phase_name(static_cast<traces::Phase>(phase)), percent(phase_ns / wall_ns));
  }
  return fmt::format("  {} {}: {}\n", printable(simulator::category_name(figures.category)),
                     duration(wall_ns, glyphs), phases);
}

std::string name_of(const Figures& figures) {
  return printable(figures.run->specification);
}

/// Table with one line per run.
std::string runs_table(const RecordingFigures& all, FigureTable figures, const Glyphs& glyphs) {
  Table table(with_figure_columns({{"run", Align::left}}, figures));
  for (const simulator::RunFigures& run : all.runs)
    table.add_row(with_figure_cells({name_of(run.all)}, figures, run.all, all, glyphs));
  return table.text(2, glyphs.columns);
}

std::string category_table(const RecordingFigures& all, const Glyphs& glyphs) {
  Table table(
      with_figure_columns({{"run", Align::left}, {"category", Align::left}}, FigureTable::speed_by_category));
  for (const simulator::RunFigures& run : all.runs)
    for (const Figures& part : run.by_category) {
      std::vector<std::string> names{name_of(part), printable(simulator::category_name(part.category))};
      table.add_row(with_figure_cells(std::move(names), FigureTable::speed_by_category, part, all, glyphs));
    }
  return "Speed by category\n" + table.text(2, glyphs.columns);
}

std::string explanation(const RecordingFigures& all, const traces::Meta& meta) {
  std::string text =
      "  tokens/s: all output tokens / all wall time, prefill included; decode tokens/s leaves prefill out\n"
      "  M: tokens a target forward yields, bonus token included; acceptance: accepted / drafted; per "
      "step:\n"
      "  accepted / draft steps, of which a token tree has fewer than tokens; tested: accepted / those that\n"
      "  verification got to; eTPL: tokens / loaded layers\n";
  if (all.baseline == nullptr) {
    text +=
        "  c, v, o: in units of the run's own mean verification, because there is no vanilla run (so v is "
        "1)\n";
    return text;
  }
  text += "  c, v, o: a draft step, a verification, and the rest of a round, in units of one vanilla round\n";
  text +=
      "  M/(gc+v+o): the speedup that these imply, g = draft steps per round; compare it with decode "
      "speedup\n";
  text +=
      simulator::is_greedy(meta)
          ? "  speedup: wall time of vanilla / of the run, same prompts, prefill included; "
          : "  speedup: tokens/s over vanilla's, same prompts, prefill included (geometric mean over prompts "
            "where lengths differ); ";
  text += "the interval is a bootstrap over\n  prompts; repeats: median (range)\n";
  return text;
}

}  // namespace

std::string report_text(const simulator::MeasuredRecording& measured, const ReportOptions& options,
                        const Glyphs& glyphs) {
  const RecordingFigures& figures = measured.figures;
  if (measured.timeline)
    return header_text(measured, glyphs) + '\n' + timeline_text(*measured.timeline, glyphs);
  std::string text =
      header_text(measured, glyphs) + "\nSpeed\n" + runs_table(figures, FigureTable::speed, glyphs) + '\n';
  if (options.by_category) text += category_table(figures, glyphs) + '\n';
  text += "Drafting\n" + runs_table(figures, FigureTable::drafting, glyphs);
  if (!options.tables_only) text += explanation(figures, measured.recording->meta);
  text += other_stated_text(measured, glyphs);
  if (std::ranges::any_of(figures.runs, [](const auto& run) { return run.all.memory.has_value(); }))
    text += "\nMemory\n" + runs_table(figures, FigureTable::memory, glyphs);
  if (options.tables_only) return text;
  for (const simulator::RunFigures& run : figures.runs) {
    text += '\n' + run_charts(run.all, glyphs);
    if (!options.by_category) continue;
    for (const Figures& part : run.by_category) text += category_breakdown(part, glyphs);
  }
  return text;
}

}  // namespace draftscope::cli
