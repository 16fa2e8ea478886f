// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_presets.h"

#include <array>

namespace draftscope::gui {

namespace {

constexpr std::array<SqlPreset, 8> presets{{
    {"Figures of the runs", "SELECT * FROM run_figures"},
    {"Slowest rounds",
     "SELECT round, specification, category, drafted, accepted, duration_ns / 1e6 AS ms\nFROM round_figures "
     "ORDER BY duration_ns DESC LIMIT 50"},
    {"Acceptance by draft position",
     "SELECT specification, draft_tokens.\"index\" AS position, count(*) AS drafted,\n       "
     "sum(draft_tokens.accepted) AS accepted, avg(draft_tokens.accepted) AS acceptance, avg(confidence) AS "
     "confidence\n"
     "FROM draft_tokens JOIN round_figures USING (round)\nGROUP BY specification, position ORDER BY "
     "specification, position"},
    {"Why drafts ended",
     "SELECT specification, draft_stop, count(*) AS rounds, avg(accepted) AS accepted\nFROM round_figures "
     "GROUP BY specification, draft_stop"},
    {"Time by span name",
     "SELECT strings.text AS name, count(*) AS spans, sum(end_ns - start_ns) / 1e6 AS ms\nFROM spans JOIN "
     "strings ON strings.id = spans.name GROUP BY name ORDER BY ms DESC"},
    // As in Breakdown: an instant belongs to the kernel that began first.
    {"Kernels by time",
     "-- attributed: an instant belongs to the kernel that began first; open: end less start, overlaps and "
     "all\n"
     "WITH device AS (\n"
     "  SELECT strings.text AS name, start_ns, end_ns, max(end_ns) OVER (ORDER BY start_ns, end_ns, "
     "kernels.id\n"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns\n"
     "  FROM kernels JOIN tracks ON tracks.id = track AND tracks.kind = 'stream'\n"
     "  JOIN strings ON strings.id = short_name)\n"
     "SELECT sum(max(0, end_ns - max(start_ns, ifnull(busy_until_ns, start_ns)))) / 1e6 AS attributed_ms,\n"
     "  sum(end_ns - start_ns) / 1e6 AS open_ms, count(*) AS kernels, name\n"
     "FROM device GROUP BY name ORDER BY attributed_ms DESC"},
    {"Gaps on the device",
     "-- times in which no stream runs anything, the longest first; Show as lane puts them on the timeline\n"
     "WITH device AS (\n"
     "  SELECT request, round, start_ns, max(end_ns) OVER (ORDER BY start_ns, end_ns, kernels.id\n"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns\n"
     "  FROM kernels JOIN tracks ON tracks.id = track AND tracks.kind = 'stream')\n"
     "SELECT (start_ns - busy_until_ns) / 1e3 AS us, request, round, busy_until_ns AS begin_ns, start_ns AS "
     "end_ns\n"
     "FROM device WHERE start_ns > busy_until_ns ORDER BY us DESC LIMIT 1000"},
    {"Bytes copied",
     "-- copies and memory sets of each kind\n"
     "SELECT tracks.name, count(*) AS copies, CAST(sum(value) AS INTEGER) AS bytes, max(value) AS "
     "largest_bytes\n"
     "FROM counters JOIN tracks ON tracks.id = track AND tracks.name LIKE 'mem%, bytes'\n"
     "GROUP BY tracks.name ORDER BY bytes DESC"},
}};

}  // namespace

std::span<const SqlPreset> sql_presets() {
  return presets;
}

}  // namespace draftscope::gui
