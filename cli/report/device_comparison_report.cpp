// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/device_report.h"
#include "report/report_json.h"
#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::ComparedTime;
using simulator::TokenTime;
using simulator::TokenTimes;

constexpr std::size_t max_compared_rows = 16;

struct ComparedPart {
  const char* key;
  std::vector<TokenTime> TokenTimes::*times;
};
constexpr ComparedPart compared_parts[]{
    {"phases", &TokenTimes::phases}, {"operations", &TokenTimes::operations}, {"gaps", &TokenTimes::gaps}};

std::optional<double> ns_of(const std::optional<TokenTime>& time) {
  return time ? std::optional(time->ns) : std::nullopt;
}

std::string signed_duration_text(const std::optional<double>& ns, const Glyphs& glyphs) {
  if (!ns) return std::string(glyphs.absent());
  return (*ns < 0.0 ? "-" : "+") + duration(std::abs(*ns), glyphs);
}

void add_compared_row(Table& table, const std::string& name, const std::optional<double>& first_ns,
                      const std::optional<double>& other_ns, const std::optional<double>& difference_ns,
                      const Glyphs& glyphs) {
  const bool has_ratio = first_ns && other_ns && *first_ns > 0.0;
  table.add_row({duration(first_ns, glyphs), duration(other_ns, glyphs),
                 signed_duration_text(difference_ns, glyphs),
                 has_ratio ? factor(*other_ns / *first_ns, glyphs) : std::string(glyphs.absent()), name});
}

std::string parts_text(const TokenTimes& first, const TokenTimes& other, const Glyphs& glyphs) {
  std::string text;
  for (const ComparedPart& part : compared_parts) {
    const std::vector<ComparedTime> rows = simulator::side_by_side(first.*part.times, other.*part.times);
    if (rows.empty()) continue;
    Table table({}, {"A", "B", "B less A", "B / A"}, {part.key});
    const std::size_t shown = std::min(rows.size(), max_compared_rows);
    for (const ComparedTime& row : std::span(rows).first(shown))
      add_compared_row(table, printable(row.name), ns_of(row.first), ns_of(row.other), row.difference_ns,
                       glyphs);
    text += "\n" + table.text(2, glyphs.columns);
    if (shown < rows.size()) text += fmt::format("  and {} that differ less\n", rows.size() - shown);
  }
  return text;
}

Json side_json(const ComparedDevice& side) {
  return {{"recording", recording_json(*side.measured)},
          {"run", side.specification},
          {"tokens", side.times.tokens},
          {"rounds", side.times.rounds},
          {"ns_per_token", side.times.ns},
          {"has_device", side.times.has_device}};
}

}  // namespace

Result<ComparedDevice> read_compared_device(const simulator::MeasuredRecording& measured,
                                            const std::string& specification) {
  const traces::Recording& recording = *measured.recording;
  const auto run = std::ranges::find_if(recording.runs, [&](const traces::Run& of) {
    return specification.empty() ? of.is_baseline : of.specification == specification;
  });
  if (run == recording.runs.end())
    return fail("{}: found no {}, expected one for --device", recording.path.string(),
                specification.empty() ? "baseline" : "run " + specification);
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording.path));
  DRAFTSCOPE_TRY_ASSIGN(const auto timeline, simulator::read_device_timeline(reader, recording));
  ComparedDevice compared{&measured, run->specification, {}};
  compared.times = simulator::token_times(recording, static_cast<std::uint32_t>(run - recording.runs.begin()),
                                          &timeline, simulator::DeviceNames::operations);
  if (compared.times.tokens == 0)
    return fail("{}: found no round of {} with an output token, expected some for --device",
                recording.path.string(), run->specification);
  return compared;
}

std::string device_comparison_text(const ComparedDevice& first, const ComparedDevice& other,
                                   const Glyphs& glyphs) {
  std::string text;
  for (const auto& [label, side] : {std::pair("A", &first), std::pair("B", &other)}) {
    text += fmt::format("{}\n{}run        {}, {} tokens in {} rounds\n", label,
                        header_text(*side->measured, glyphs), printable(side->specification),
                        count(side->times.tokens), count(side->times.rounds));
    if (!side->times.has_device)
      text +=
          "           no times of a device (record --device cuda --device-trace launches, or operations)\n";
    text += "\n";
  }
  Table whole({}, {"A", "B", "B less A", "B / A"}, {"an output token"});
  add_compared_row(whole, "all rounds", first.times.ns, other.times.ns, other.times.ns - first.times.ns,
                   glyphs);
  return text + whole.text(2, glyphs.columns) + parts_text(first.times, other.times, glyphs) +
         "\n  time of the rounds by output token, without prefill: phases add up to it, and so do operations "
         "and gaps\n  operations: own time, in which an instant belongs to what began first\n";
}

std::string device_comparison_json(const ComparedDevice& first, const ComparedDevice& other) {
  Json json = new_document();
  json["first"] = side_json(first);
  json["other"] = side_json(other);
  for (const ComparedPart& part : compared_parts) {
    const auto rows = simulator::side_by_side(first.times.*part.times, other.times.*part.times);
    json[part.key] = json_list(rows, [](const ComparedTime& row) -> Json {
      return {{"name", row.name},
              {"first_ns", json_or_null(ns_of(row.first))},
              {"other_ns", json_or_null(ns_of(row.other))},
              {"difference_ns", json_or_null(row.difference_ns)}};
    });
  }
  return json_text(json);
}

}  // namespace draftscope::cli
