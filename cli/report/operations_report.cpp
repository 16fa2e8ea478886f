// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::OperationFigures;
using simulator::OperationTimes;
using simulator::RecordedOperations;
using simulator::TimeOfOperations;

constexpr std::size_t share_bar_width = 16;

std::optional<double> share_of_reading(const RecordedOperations& operations, const OperationFigures& row) {
  const std::optional<double> rate = row.rate_gb_s();
  if (!rate || !operations.read_gb_s) return std::nullopt;
  return *rate / *operations.read_gb_s;
}

/// Text like "reading alone would take 86 % of it, 6 % go by before operations begin, 5 % wait for a last
/// block".
std::string bounds_text(const TimeOfOperations& time, bool timed_by_device) {
  std::string text;
  if (time.reading) text += fmt::format("reading alone would take {} of it, ", percent(*time.reading));
  if (timed_by_device)
    text += fmt::format("{} go by before operations begin, in {} blocks wait for the last one, ",
                        percent(time.before), percent(time.waiting));
  return text + fmt::format("{} takes most ({})", printable(time.longest), percent(time.longest_share));
}

std::string table_of(const RecordedOperations& operations, const TimeOfOperations& time,
                     const Glyphs& glyphs) {
  Table table({"operation"}, {"executions", "each", "share"}, {""});
  if (operations.timed_by_device)
    for (const char* const title : {"before it", "waiting", "GB/s", "of reading"}) table.add_column(title);
  for (const OperationFigures& row : operations.rows) {
    if (row.run != time.run || row.phase != time.phase) continue;
    const auto each = [&](std::int64_t ns) {
      return duration(static_cast<double>(ns) / static_cast<double>(row.executions), glyphs);
    };
    const double share = time.ns > 0 ? static_cast<double>(row.ns) / static_cast<double>(time.ns) : 0.0;
    table.add_row({printable(row.name), count(row.executions), each(row.ns), percent(share),
                   bar(share, share_bar_width, glyphs), each(row.before_ns), each(row.wait_ns),
                   number(row.rate_gb_s(), glyphs), percent(share_of_reading(operations, row), glyphs)});
  }
  return table.text(2, glyphs.columns);
}

/// Time of the phase that no operation of a kind took; absent where the run's times contradict each other.
std::optional<std::int64_t> other_ns(const simulator::Figures& figures, const OperationTimes& time) {
  if (figures.breakdown.source == simulator::BreakdownSource::none) return std::nullopt;
  std::int64_t ns = figures.breakdown.by_phase[static_cast<std::size_t>(time.phase)];
  for (const std::int64_t of_kind : time.ns) ns -= of_kind;
  return ns;
}

Json times_json(const simulator::MeasuredRecording& measured, const OperationTimes& time) {
  Json json = Json::object();
  add_run(json, *figures_of(measured, time.run).run);
  json["phase"] = traces::phase_name(time.phase);
  Json& kinds = json["ns"] = Json::object();
  for (std::size_t kind = 0; kind < simulator::operation_kinds.size(); ++kind)
    kinds[std::string(simulator::operation_kinds[kind])] = time.ns[kind];
  kinds["other"] = json_or_null(other_ns(figures_of(measured, time.run), time));
  return json;
}

Json row_json(const simulator::MeasuredRecording& measured, const RecordedOperations& operations,
              const OperationFigures& row) {
  Json json = Json::object();
  add_run(json, *figures_of(measured, row.run).run);
  json["phase"] = traces::phase_name(row.phase);
  json["operation"] = row.name;
  json["executions"] = row.executions;
  json["ns"] = row.ns;
  const auto if_timed = [&](std::int64_t value) {
    return operations.timed_by_device ? Json(value) : Json(nullptr);
  };
  json["before_ns"] = if_timed(row.before_ns);
  json["wait_ns"] = if_timed(row.wait_ns);
  json["bytes"] = if_timed(row.bytes);
  json["gb_s"] = json_or_null(row.rate_gb_s());
  json["read_share"] = json_or_null(share_of_reading(operations, row));
  return json;
}

}  // namespace

std::string operations_text(const simulator::MeasuredRecording& measured,
                            const RecordedOperations& operations, bool tables_only, const Glyphs& glyphs) {
  std::string text = header_text(measured, glyphs);
  for (const TimeOfOperations& time : simulator::times_of(operations)) {
    const std::string whose =
        fmt::format("{}, {}", printable(figures_of(measured, time.run).run->specification),
                    traces::phase_name(time.phase));
    text += fmt::format("\n{}: {} of the device\n", whose, duration(static_cast<double>(time.ns), glyphs));
    text += table_of(operations, time, glyphs);
    if (!tables_only) text += fmt::format("  {}\n", bounds_text(time, operations.timed_by_device));
  }
  if (tables_only) return text;
  if (!operations.timed_by_device)
    return text + "\n  by launches; record with --device-trace operations for waiting, bytes and rates\n";
  text +=
      "\n  each: from the end of the operation before it to the end of its last block\n"
      "  waiting: what a block waits on average for the last one; before it: the barrier, or a launch\n";
  if (operations.read_gb_s)
    text += fmt::format("  of reading: GB/s over the {} GB/s that reading alone reaches on this GPU\n",
                        number(*operations.read_gb_s));
  return text;
}

std::string operation_times_text(const simulator::MeasuredRecording& measured,
                                 const std::vector<OperationTimes>& times, const Glyphs& glyphs) {
  if (times.empty()) return {};
  Table table({"run", "phase"}, {});
  for (const std::string_view kind : simulator::operation_kinds) table.add_column(std::string(kind));
  table.add_column("other");
  for (const OperationTimes& time : times) {
    const simulator::Figures& figures = figures_of(measured, time.run);
    // The first token of each request belongs to the prefill.
    const simulator::Throughput& all = figures.throughput;
    const double tokens =
        std::max(all.decode_tokens_per_second.value_or(0.0) * static_cast<double>(all.decode_ns) * 1e-9, 1.0);
    table.add_row({printable(figures.run->specification), std::string(traces::phase_name(time.phase))});
    for (const std::int64_t ns : time.ns) table.add_cell(duration(static_cast<double>(ns) / tokens, glyphs));
    const auto other = other_ns(figures, time);
    table.add_cell(other ? duration(static_cast<double>(*other) / tokens, glyphs)
                         : std::string(glyphs.absent()));
  }
  return "\ntime per output token by kind of operation, prefill and its token left out\n" +
         table.text(2, glyphs.columns);
}

std::string operations_json(const simulator::MeasuredRecording& measured,
                            const RecordedOperations& operations, const std::vector<OperationTimes>& times) {
  Json json = recording_document(measured);
  json["timed_by_device"] = operations.timed_by_device;
  json["read_gb_s"] = json_or_null(operations.read_gb_s);
  json["kinds"] = json_list(times, [&](const OperationTimes& time) { return times_json(measured, time); });
  json["phases"] = json_list(simulator::times_of(operations), [&](const TimeOfOperations& time) {
    Json phase = Json::object();
    add_run(phase, *figures_of(measured, time.run).run);
    phase["phase"] = traces::phase_name(time.phase);
    phase["ns"] = time.ns;
    phase["read_share"] = json_or_null(time.reading);
    phase["before_share"] = operations.timed_by_device ? Json(time.before) : Json(nullptr);
    phase["wait_share"] = operations.timed_by_device ? Json(time.waiting) : Json(nullptr);
    return phase;
  });
  json["operations"] = json_list(
      operations.rows, [&](const OperationFigures& row) { return row_json(measured, operations, row); });
  return json_text(json);
}

std::string operations_csv(const simulator::MeasuredRecording& measured,
                           const RecordedOperations& operations) {
  std::string text;
  for (const OperationFigures& row : operations.rows) add_csv_row(text, row_json(measured, operations, row));
  return text;
}

}  // namespace draftscope::cli
