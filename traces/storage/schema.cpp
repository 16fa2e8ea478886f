// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/schema.h"

#include <draftscope/traces/records.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/columns.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

constexpr std::string_view other_tables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE phases (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE draft_stops (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE request_stops (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE lanes (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
)sql";

std::string column_sql(const StoredColumn& column, bool is_primary_key) {
  const std::string_view quote = column.name == "index" ? "\"" : "";  // keyword of SQL
  std::string sql = fmt::format("{0}{1}{0} {2}", quote, column.name, column.type);
  if (is_primary_key)
    sql += " PRIMARY KEY";
  else if (!column.is_nullable)
    sql += " NOT NULL";
  return column.referenced.empty() ? sql : sql + fmt::format(" REFERENCES {} (id)", column.referenced);
}

template <typename Record>
std::string table_sql(const Table<Record>& table) {
  std::vector<std::string> lines;
  bool has_key = !table.primary_key.empty();
  for (const StoredColumn& column : stored_columns<Record>()) {
    const bool is_primary_key = !has_key && column.name == table.key;
    lines.push_back(column_sql(column, is_primary_key));
    has_key = has_key || is_primary_key;
  }
  // Counters have an id that no record has.
  if (!has_key) lines.insert(lines.begin(), column_sql({table.key, "INTEGER"}, true));
  if (!table.primary_key.empty()) lines.push_back(fmt::format("PRIMARY KEY ({})", table.primary_key));
  return fmt::format("CREATE TABLE {} (\n  {}\n) STRICT{};\n", table.name, fmt::join(lines, ",\n  "),
                     table.primary_key.empty() ? "" : ", WITHOUT ROWID");
}

// The figures follow their definitions: acceptance_rate = accepted / drafted, where tokens after the text's
// end count as drafted only (text_share.h; an end-of-sequence token, stop 0, counts);
// emitted_tokens_per_round = emitted tokens per target forward; the wall time of a request includes its
// prefill.
constexpr std::string_view figure_views = R"sql(
CREATE VIEW round_figures AS
SELECT rounds.id AS round, rounds.request, rounds."index" AS round_index, runs.id AS run, runs.strategy,
       runs.specification, prompts.category, draft_stops.name AS draft_stop, planned, drafted, tree_depth,
       min(accepted, emitted + (requests.stop = 0)) AS accepted, emitted, verify_rows, rounds.exit_layer, threshold,
       CASE WHEN drafted > 0 THEN CAST(min(accepted, emitted + (requests.stop = 0)) AS REAL) / drafted END
         AS acceptance_rate,
       rounds.end_ns - rounds.start_ns AS duration_ns, draft_ns, verify_ns, accept_ns, optimise_ns, control_ns,
       rounds.end_ns - rounds.start_ns - draft_ns - verify_ns - accept_ns - optimise_ns - control_ns AS other_ns
FROM rounds
JOIN requests ON requests.id = rounds.request
JOIN runs ON runs.id = requests.run
JOIN prompts ON prompts.id = requests.prompt
LEFT JOIN draft_stops ON draft_stops.id = rounds.draft_stop;

CREATE VIEW request_figures AS
SELECT requests.id AS request, runs.id AS run, runs.strategy, runs.specification, prompts.question_id,
       prompts.category, prompts.turn, requests.repeat, request_stops.name AS stop,
       requests.end_ns - requests.start_ns AS wall_ns,
       CASE WHEN first_token_ns > 0 THEN first_token_ns - requests.start_ns END AS first_token_latency_ns,
       length(requests.tokens) / 4 AS tokens,
       CASE WHEN requests.end_ns > requests.start_ns
            THEN length(requests.tokens) / 4 * 1e9 / (requests.end_ns - requests.start_ns) END
         AS tokens_per_second,
       count(rounds.id) AS rounds, coalesce(sum(drafted), 0) AS drafted,
       coalesce(sum(min(accepted, emitted + (requests.stop = 0))), 0) AS accepted,
       coalesce(sum(emitted), 0) AS emitted,
       CAST(sum(min(accepted, emitted + (requests.stop = 0))) AS REAL) / nullif(sum(drafted), 0) AS acceptance_rate,
       CAST(sum(emitted) AS REAL) / nullif(count(rounds.id), 0) AS emitted_tokens_per_round
FROM requests
JOIN runs ON runs.id = requests.run
JOIN prompts ON prompts.id = requests.prompt
LEFT JOIN request_stops ON request_stops.id = requests.stop
LEFT JOIN rounds ON rounds.request = requests.id
WHERE requests.end_ns > 0
GROUP BY requests.id;

CREATE VIEW run_figures AS
SELECT run, strategy, specification, count(*) AS requests, sum(tokens) AS tokens, sum(wall_ns) AS wall_ns,
       sum(tokens) * 1e9 / nullif(sum(wall_ns), 0) AS tokens_per_second, sum(rounds) AS rounds,
       sum(drafted) AS drafted, sum(accepted) AS accepted,
       CAST(sum(accepted) AS REAL) / nullif(sum(drafted), 0) AS acceptance_rate,
       CAST(sum(emitted) AS REAL) / nullif(sum(rounds), 0) AS emitted_tokens_per_round
FROM request_figures
GROUP BY run;
)sql";

constexpr std::string_view other_views = R"sql(
CREATE VIEW decision_figures AS
SELECT decisions.id AS decision, decisions.request, decisions.round, rounds."index" AS round_index, runs.id AS run,
       runs.strategy, runs.specification, prompts.category, strings.text AS kind,
       decisions.end_ns - decisions.start_ns AS duration_ns, score, adopted, detail
FROM decisions
JOIN requests ON requests.id = decisions.request
JOIN runs ON runs.id = requests.run
JOIN prompts ON prompts.id = requests.prompt
LEFT JOIN rounds ON rounds.id = decisions.round
LEFT JOIN strings ON strings.id = decisions.kind;

CREATE VIEW shadow_predictions AS
SELECT shadow_tokens.request, runs.id AS run, runs.specification, layer, position, token,
       probability_millionths / 1e6 AS probability, margin_millionths / 1e6 AS margin, true_rank,
       true_rank = 0 AS is_match
FROM shadow_tokens
JOIN requests ON requests.id = shadow_tokens.request
JOIN runs ON runs.id = requests.run;

CREATE VIEW StringIds AS SELECT id, text AS value FROM strings;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
SELECT start_ns AS start, end_ns AS "end", 0 AS deviceId, 0 AS contextId, stream_id AS streamId,
       correlation_id AS correlationId, short_name AS demangledName, short_name AS shortName,
       grid_x AS gridX, grid_y AS gridY, grid_z AS gridZ, block_x AS blockX, block_y AS blockY, block_z AS blockZ,
       graph_id AS graphId, graph_node_id AS graphNodeId, registers_per_thread AS registersPerThread,
       static_shared_bytes AS staticSharedMemory, dynamic_shared_bytes AS dynamicSharedMemory
FROM kernels WHERE block_x > 0;

CREATE VIEW NVTX_EVENTS AS
SELECT spans.start_ns AS start, spans.end_ns AS "end", 59 AS eventType, strings.text AS text,
       spans.name AS textId, spans.track AS globalTid
FROM spans
LEFT JOIN strings ON strings.id = spans.name;
)sql";

template <typename Enumeration, typename Name>
std::string name_rows(std::string_view table, int count, Name name) {
  std::string sql;
  for (int i = 0; i < count; ++i)
    sql += fmt::format("INSERT INTO {} VALUES ({}, '{}');\n", table, i, name(static_cast<Enumeration>(i)));
  return sql;
}

}  // namespace

std::string schema_sql() {
  std::string sql(other_tables);
  for_each_table([&](const auto& table) { sql += table_sql(table); });
  sql += name_rows<Phase>("phases", phase_count, phase_name);
  sql += name_rows<DraftStop>("draft_stops", draft_stop_count, draft_stop_name);
  sql += name_rows<RequestStop>("request_stops", request_stop_count, request_stop_name);
  sql += name_rows<LaneOf>("lanes", lane_of_count, lane_of_name);
  sql += figure_views;
  sql += other_views;
  return sql;
}

std::string temporary_figure_views() {
  constexpr std::string_view create = "CREATE ";
  std::string sql(figure_views);
  for (std::size_t at = sql.find(create); at != std::string::npos; at = sql.find(create, at + 1))
    sql.insert(at + create.size(), "TEMP ");
  return sql;
}

std::string closing_sql() {
  std::string sql =
      "CREATE INDEX rounds_by_request ON rounds (request, \"index\");"
      "CREATE INDEX spans_by_track_start ON spans (track, start_ns);"
      "CREATE INDEX kernels_by_track_start ON kernels (track, start_ns);"
      "CREATE INDEX counters_by_track_time ON counters (track, timestamp_ns);";
  // ANALYZE alone takes the tables in an order that depends on how much memory SQLite had.
  for_each_table([&](const auto& table) { sql += fmt::format("ANALYZE {};", table.name); });
  return sql;
}

}  // namespace draftscope::traces
