// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/reports.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

constexpr std::size_t max_names = 12;  // The others are counted; --json has all.

std::string times_table(std::string_view what, const std::vector<simulator::NamedTime>& times, double of_ns,
                        const Glyphs& glyphs) {
  if (times.empty()) return {};
  Table table({std::string(what)}, {"count", "time", "share"});
  const std::size_t shown = std::min(times.size(), max_names);
  for (const simulator::NamedTime& time : std::span(times).first(shown))
    table.add_row({printable(time.name), count(time.count), duration(time.ns, glyphs),
                   of_ns > 0.0 ? percent(time.ns / of_ns) : std::string(glyphs.absent())});
  std::string text = table.text(2, glyphs.columns);
  if (shown < times.size()) text += fmt::format("  and {} names more\n", times.size() - shown);
  return text;
}

}  // namespace

std::string timeline_text(const simulator::TimelineSummary& timeline, const Glyphs& glyphs) {
  const auto all_ns = static_cast<double>(timeline.end_ns - timeline.start_ns);
  std::string text =
      fmt::format("Timeline of {}: {} host ranges, ", duration(all_ns, glyphs), count(timeline.ranges));
  if (timeline.device_activities == 0)
    text += "no device activity\n";
  else
    text +=
        fmt::format("{} device activities, the device busy for {} ({})\n", count(timeline.device_activities),
                    duration(static_cast<double>(timeline.device_busy_ns), glyphs),
                    all_ns > 0.0 ? percent(static_cast<double>(timeline.device_busy_ns) / all_ns)
                                 : std::string(glyphs.absent()));
  return text + times_table("host range, without those inside", timeline.by_range, all_ns, glyphs) +
         times_table("device activity", timeline.by_activity, all_ns, glyphs);
}

std::string other_stated_text(const simulator::MeasuredRecording& measured, const Glyphs& glyphs) {
  const auto others = simulator::other_stated(measured.figures, measured.recording->meta);
  if (others.empty()) return {};
  constexpr std::size_t max_characters = 60;
  Table table({"run", "stated by its source", "value"}, {});
  for (const simulator::OtherStated& one : others)
    table.add_row(
        {printable(one.run->specification), printable(one.name),
         one.value.size() <= max_characters ? one.value : one.value.substr(0, max_characters) + "..."});
  return "\nStated, as the source counts\n" + table.text(2, glyphs.columns);
}

}  // namespace draftscope::cli
