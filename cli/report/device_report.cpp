// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/device_report.h"

#include <draftscope/traces/reader.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "report/report_json.h"
#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::DeviceGap;
using simulator::DeviceRow;
using simulator::DeviceTable;
using simulator::DeviceTimeline;

constexpr std::size_t share_bar_cells = 8;
constexpr std::size_t name_cells = 24;
constexpr std::size_t use_cells = 60;
constexpr std::size_t max_gaps = 8;
constexpr std::size_t max_json_gaps = 100;
/// Rows below this share of the busy time are folded, beyond the first few.
constexpr double min_share = 0.005;
constexpr std::size_t min_rows = 6;

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

/// A name in at most `name_cells` cells, without its middle.
std::string elided(std::string_view name) {
  std::string text = printable(name);
  if (text.size() <= name_cells) return text;
  constexpr std::size_t kept = (name_cells - 2) / 2;
  return text.substr(0, kept) + ".." + text.substr(text.size() - kept);
}

std::optional<double> share_of_reading(const DeviceTimeline& timeline, const DeviceRow& row) {
  const std::optional<double> rate = row.gb_s();
  if (!rate || !timeline.rate) return std::nullopt;
  return *rate / timeline.rate->gb_s;
}

std::string_view name_of(const DeviceTimeline& timeline, std::uint32_t work) {
  if (work == simulator::no_work) return "nothing";
  return timeline.names[timeline.work[work].kernel];
}

std::string rows_text(const DeviceTimeline& timeline, const DeviceTable& table, std::string_view what,
                      const Glyphs& glyphs) {
  Table text({{"own time"},
              {"share"},
              {"", Align::left},
              {"count"},
              {"open"},
              {"median"},
              {"p99"},
              {"GB/s"},
              {"of read"},
              {std::string(what), Align::left}});
  std::size_t shown = 0;
  while (shown < table.rows.size() &&
         (shown < min_rows || ratio(table.rows[shown].own_ns, table.busy_ns) >= min_share))
    ++shown;
  const auto time = [&](std::int64_t ns) { return duration(static_cast<double>(ns), glyphs); };
  for (const DeviceRow& row : std::span(table.rows).first(shown)) {
    const double share = ratio(row.own_ns, table.busy_ns);
    text.add_row({time(row.own_ns), percent(share), bar(share, share_bar_cells, glyphs), count(row.count),
                  time(row.open_ns), time(row.median_ns), time(row.p99_ns), number(row.gb_s(), glyphs),
                  percent(share_of_reading(timeline, row), glyphs), elided(timeline.names[row.name])});
  }
  if (shown < table.rows.size()) {
    std::int64_t ns = 0;
    std::int64_t rows = 0;
    for (const DeviceRow& row : std::span(table.rows).subspan(shown)) {
      ns += row.own_ns;
      rows += row.count;
    }
    text.add_row({time(ns), percent(ratio(ns, table.busy_ns)), "", count(rows), "", "", "", "", "",
                  fmt::format("{} others", table.rows.size() - shown)});
  }
  return text.text(2);
}

std::vector<std::int64_t> durations_of(const std::vector<DeviceGap>& gaps) {
  std::vector<std::int64_t> durations;
  durations.reserve(gaps.size());
  for (const DeviceGap& gap : gaps) durations.push_back(gap.ns());
  return durations;
}

std::string gaps_text(const DeviceReport& report, const Glyphs& glyphs) {
  const auto time = [&](std::int64_t ns) { return duration(static_cast<double>(ns), glyphs); };
  const std::int64_t wall_ns = report.operations.wall_ns;
  Table kinds({}, {"time", "of wall", "count"}, {"gaps"});
  const auto sums = simulator::sums_of(report.gaps);
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    kinds.add_row({time(sums[kind].ns), percent(ratio(sums[kind].ns, wall_ns)), count(sums[kind].count),
                   std::string(simulator::gap_kind_names[kind])});
  std::string text = "\n" + kinds.text(2);
  if (report.gaps.empty()) return text;
  const auto histogram = simulator::histogram_of(durations_of(report.gaps));
  const auto most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  Table bins({}, {"from", "to", "count"}, {""});
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    bins.add_row({duration(histogram.edges_ns[bin], glyphs), duration(histogram.edges_ns[bin + 1], glyphs),
                  count(histogram.counts[bin]), bar(ratio(histogram.counts[bin], most), bar_width, glyphs)});
  text += "\n" + bins.text(2);
  Table longest({}, {"longest", "begins at"}, {"kind", "after", "before"});
  const std::int64_t begin_ns = report.selection.windows.front().start_ns;
  for (const std::size_t index : simulator::longest_gaps(report.gaps, max_gaps)) {
    const DeviceGap& gap = report.gaps[index];
    longest.add_row({time(gap.ns()), time(gap.start_ns - begin_ns),
                     std::string(simulator::gap_kind_names[static_cast<std::size_t>(gap.kind)]),
                     elided(name_of(report.timeline, gap.before)),
                     elided(name_of(report.timeline, gap.after))});
  }
  return text + "\n" + longest.text(2);
}

/// How busy the device was over the whole time of the selection.
std::vector<double> use_of(const DeviceReport& report) {
  const auto& windows = report.selection.windows;
  return simulator::busy_shares(report.timeline, {windows.front().start_ns, windows.back().end_ns},
                                use_cells);
}

std::string explanation(const DeviceTimeline& timeline) {
  std::string text =
      "\n  own time: an instant belongs to what began first; own times and gaps add up to the wall time\n"
      "  open: from begin to end, other work at the same time or not; median and p99 are of it\n";
  if (timeline.bytes != simulator::BytesSource::none)
    text += timeline.bytes == simulator::BytesSource::recorded
                ? "  GB/s: bytes that the kernels noted, over own time\n"
                : "  GB/s: bytes that follow from the model's sizes, over own time\n";
  if (timeline.rate)
    text += fmt::format(
        "  of read: over {} GB/s, which reading alone reaches of the {} that the {} is specified for\n",
        number(timeline.rate->gb_s), number(timeline.rate->specified_gb_s), timeline.rate->gpu);
  return text +
         "  launch: ended by the begin of a launch (of a graph, a kernel or a copy); host: between rounds\n";
}

Json row_json(const DeviceReport& report, const DeviceTable& table, const DeviceRow& row) {
  return {{"name", report.timeline.names[row.name]},
          {"count", row.count},
          {"own_ns", row.own_ns},
          {"share", ratio(row.own_ns, table.busy_ns)},
          {"open_ns", row.open_ns},
          {"median_ns", row.median_ns},
          {"p99_ns", row.p99_ns},
          {"bytes", row.bytes > 0.0 ? Json(row.bytes) : Json(nullptr)},
          {"gb_s", json_or_null(row.gb_s())},
          {"read_share", json_or_null(share_of_reading(report.timeline, row))},
          {"occupancy", json_or_null(row.occupancy)}};
}

Json gap_json(const DeviceReport& report, const DeviceGap& gap) {
  const auto name = [&](std::uint32_t work) {
    return work == simulator::no_work ? Json(nullptr) : Json(std::string(name_of(report.timeline, work)));
  };
  return {{"kind", simulator::gap_kind_names[static_cast<std::size_t>(gap.kind)]},
          {"start_ns", gap.start_ns},
          {"ns", gap.ns()},
          {"after", name(gap.before)},
          {"before", name(gap.after)}};
}

}  // namespace

Result<DeviceReport> read_device_report(const simulator::MeasuredRecording& measured,
                                        const DeviceReportOptions& options) {
  const traces::Recording& recording = *measured.recording;
  DeviceReport report;
  for (std::uint32_t run = 0; run < recording.runs.size(); ++run)
    if (recording.runs[run].specification == options.run) report.question.run = run;
  if (!options.run.empty() && !report.question.run)
    return fail("--run: found {}, expected a run of {}", options.run, recording.path.string());
  for (int phase = 0; phase < traces::phase_count; ++phase)
    if (traces::phase_name(static_cast<traces::Phase>(phase)) == options.phase)
      report.question.phase = static_cast<traces::Phase>(phase);
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording.path));
  DRAFTSCOPE_TRY_ASSIGN(report.timeline, simulator::read_device_timeline(reader, recording));
  if (report.timeline.empty())
    return fail("{}: no device was recorded, expected one for --device (record --device cuda)",
                recording.path.string());
  report.selection = simulator::select_device(report.timeline, recording, report.question);
  if (report.selection.windows.empty())
    return fail("{}: found no finished time, expected requests or device rows for --device",
                recording.path.string());
  using simulator::DeviceNames;
  report.operations = simulator::device_table(report.timeline, report.selection, DeviceNames::operations);
  report.kernels = simulator::device_table(report.timeline, report.selection, DeviceNames::kernels);
  report.gaps = simulator::device_gaps(report.timeline, report.selection);
  return report;
}

std::string device_text(const simulator::MeasuredRecording& measured, const DeviceReport& report,
                        bool tables_only, const Glyphs& glyphs) {
  const DeviceTable& table = report.operations;
  std::string of;
  if (report.question.run)
    of += " of " + printable(measured.recording->runs[*report.question.run].specification);
  if (report.question.phase) of += fmt::format(" in {}", traces::phase_name(*report.question.phase));
  std::string text = header_text(measured, glyphs);
  text += fmt::format(
      "\ndevice: busy for {}, {} of {}{}\n", duration(static_cast<double>(table.busy_ns), glyphs),
      percent(ratio(table.busy_ns, table.wall_ns)), duration(static_cast<double>(table.wall_ns), glyphs), of);
  if (!tables_only) {
    std::string step = simulator::step_bound_text(measured, glyphs.characters());
    if (const std::size_t colon = step.find(": "); colon != std::string::npos)
      step.replace(colon, 2, ":\n  ");
    if (!step.empty()) text += step + "\n";
    text += fmt::format("  use over time  {}\n", line_chart(use_of(report), use_cells, glyphs));
  }
  text += "\n" + rows_text(report.timeline, table, "operation", glyphs);
  text += "\n" + rows_text(report.timeline, report.kernels, "kernel", glyphs);
  text += gaps_text(report, glyphs);
  return tables_only ? text : text + explanation(report.timeline);
}

std::string device_json(const simulator::MeasuredRecording& measured, const DeviceReport& report) {
  Json json = recording_document(measured);
  json["run"] = report.question.run ? Json(measured.recording->runs[*report.question.run].specification)
                                    : Json(nullptr);
  json["phase"] = report.question.phase ? Json(traces::phase_name(*report.question.phase)) : Json(nullptr);
  json["timed_by_device"] = report.timeline.timed_by_device;
  constexpr std::array<std::string_view, 3> sources{"none", "recorded", "sizes"};
  json["bytes_source"] = sources[static_cast<std::size_t>(report.timeline.bytes)];
  const auto& rate = report.timeline.rate;
  json["gpu"] = rate ? Json(rate->gpu) : Json(nullptr);
  json["specified_gb_s"] = rate ? Json(rate->specified_gb_s) : Json(nullptr);
  json["read_gb_s"] = rate ? Json(rate->gb_s) : Json(nullptr);
  json["wall_ns"] = report.operations.wall_ns;
  json["busy_ns"] = report.operations.busy_ns;
  for (const auto& [key, table] :
       {std::pair("operations", &report.operations), std::pair("kernels", &report.kernels)}) {
    const DeviceTable& of = *table;
    json[key] = json_list(of.rows, [&](const DeviceRow& row) { return row_json(report, of, row); });
  }
  Json& gaps = json["gaps"] = Json::object();
  const auto sums = simulator::sums_of(report.gaps);
  Json& kinds = gaps["kinds"] = Json::array();
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    kinds.push_back(
        {{"kind", simulator::gap_kind_names[kind]}, {"count", sums[kind].count}, {"ns", sums[kind].ns}});
  const auto histogram = simulator::histogram_of(durations_of(report.gaps));
  gaps["histogram"] = {{"edges_ns", values_json(histogram.edges_ns)}, {"counts", histogram.counts}};
  gaps["longest"] = json_list(simulator::longest_gaps(report.gaps, max_json_gaps),
                              [&](std::size_t index) { return gap_json(report, report.gaps[index]); });
  json["busy_shares"] = values_json(use_of(report));
  return json_text(json);
}

}  // namespace draftscope::cli
