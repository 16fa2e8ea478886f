// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one place that maps a record's fields to its table's columns: creating tables, inserting, reading and
// checking references all visit these lists. The list of the tables is tables.h.
//
// A visitor has these functions: id(name, field); key(name, field, table) for a reference that must exist;
// reference(name, field, table) for one that may be absent (0 in the record, NULL in the file);
// enumeration(name, field, values, table); millionths(name, field) for a real number that is stored as a
// whole number of millionths; value(name, field).

#include <draftscope/traces/overview.h>
#include <draftscope/traces/records.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace draftscope::traces {

inline constexpr int current_schema_version = 6;
/// Oldest version that is read, whose tables are those of the current version.
inline constexpr int oldest_schema_version = 4;

/// A column that files of versions before `version` lack; there it reads as zeros.
struct AddedColumn {
  int version = 0;
  std::string_view table;
  std::string_view name;
};
inline constexpr std::array<AddedColumn, 8> added_columns{{{5, "kernels", "bytes"},
                                                           {5, "kernels", "wait_ns"},
                                                           {5, "kernels", "first_end_ns"},
                                                           {5, "kernels", "first_block"},
                                                           {5, "kernels", "last_block"},
                                                           {6, "kernels", "registers_per_thread"},
                                                           {6, "kernels", "static_shared_bytes"},
                                                           {6, "kernels", "dynamic_shared_bytes"}}};

/// Whether files of that schema version have the column.
[[nodiscard]] constexpr bool has_column(int version, std::string_view table, std::string_view column) {
  return std::ranges::none_of(added_columns, [&](const AddedColumn& added) {
    return version < added.version && table == added.table && column == added.name;
  });
}

inline constexpr int draft_stop_count = 5;
inline constexpr int request_stop_count = 6;

/// A row of the table `strings`.
struct StringRow {
  StringId id;
  std::string text;
};

/// Visits the columns of a row. Row is Record or const Record.
template <typename Row, typename Record>
concept RowOf = std::same_as<std::remove_const_t<Row>, Record>;

template <RowOf<StringRow> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.value("text", row.text);
}

template <RowOf<Run> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.value("strategy", row.strategy);
  visit.value("specification", row.specification);
  visit.value("parameters", row.parameters);
  visit.value("is_baseline", row.is_baseline);
}

template <RowOf<Prompt> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.value("question_id", row.question_id);
  visit.value("category", row.category);
  visit.value("turn", row.turn);
  visit.value("text", row.text);
  visit.value("tokens", row.tokens);
}

template <RowOf<Request> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.key("run", row.run_id, "runs");
  visit.key("prompt", row.prompt_id, "prompts");
  visit.value("repeat", row.repeat);
  visit.value("start_ns", row.start_ns);
  visit.value("first_token_ns", row.first_token_ns);
  visit.value("end_ns", row.end_ns);
  visit.value("seed", row.seed);
  visit.enumeration("stop", row.stop, request_stop_count, "request_stops");
  visit.value("text", row.text);
  visit.value("tokens", row.tokens);
}

template <RowOf<LayerSet> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.value("n_layers", row.n_layers);
  visit.value("exit_layer", row.exit_layer);
  visit.value("skipped", row.skipped);
  visit.value("origin", row.origin);
}

template <RowOf<Round> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.key("request", row.request_id, "requests");
  visit.value("index", row.index);
  visit.value("start_ns", row.start_ns);
  visit.value("end_ns", row.end_ns);
  visit.value("root_position", row.root_position);
  visit.reference("layer_set", row.layer_set_id, "layer_sets");
  visit.value("exit_layer", row.exit_layer);
  visit.value("planned", row.planned);
  visit.value("drafted", row.drafted);
  visit.value("tree_depth", row.tree_depth);
  visit.value("accepted", row.accepted);
  visit.value("emitted", row.emitted);
  visit.value("verify_rows", row.verify_rows);
  visit.value("bonus_token", row.bonus_token);
  visit.enumeration("draft_stop", row.draft_stop, draft_stop_count, "draft_stops");
  visit.value("threshold", row.threshold);
  visit.value("draft_ns", row.draft_ns);
  visit.value("verify_ns", row.verify_ns);
  visit.value("accept_ns", row.accept_ns);
  visit.value("optimise_ns", row.optimise_ns);
  visit.value("control_ns", row.control_ns);
}

template <RowOf<DraftToken> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.key("round", row.round_id, "rounds");
  visit.value("index", row.index);
  visit.value("parent", row.parent);
  visit.value("token", row.token);
  visit.value("confidence", row.confidence);
  visit.value("probability", row.probability);
  visit.value("accepted", row.accepted);
  visit.value("tested", row.tested);
}

template <RowOf<Decision> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.key("request", row.request_id, "requests");
  visit.reference("round", row.round_id, "rounds");
  visit.key("kind", row.kind_id, "strings");
  visit.value("start_ns", row.start_ns);
  visit.value("end_ns", row.end_ns);
  visit.value("score", row.score);
  visit.value("adopted", row.adopted);
  visit.value("detail", row.detail);
}

template <RowOf<ShadowToken> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.key("request", row.request_id, "requests");
  visit.value("layer", row.layer);
  visit.value("position", row.position);
  visit.value("token", row.token);
  visit.millionths("probability_millionths", row.probability);
  visit.millionths("margin_millionths", row.margin);
  visit.value("true_rank", row.true_rank);
}

template <RowOf<TokenText> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.value("token", row.token);
  visit.value("text", row.text);
}

template <RowOf<Track> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.value("kind", row.kind);
  visit.value("name", row.name);
  visit.reference("parent", row.parent_id, "tracks");
  visit.value("sort", row.sort);
}

template <RowOf<Span> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.reference("parent", row.parent_id, "spans");
  visit.key("track", row.track_id, "tracks");
  visit.reference("request", row.request_id, "requests");
  visit.reference("round", row.round_id, "rounds");
  visit.value("start_ns", row.start_ns);
  visit.value("end_ns", row.end_ns);
  visit.key("name", row.name_id, "strings");
  visit.value("layer", row.layer);
  visit.value("depth", row.depth);
  visit.enumeration("phase", row.phase, phase_count, "phases");
}

template <RowOf<Kernel> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.id("id", row.id);
  visit.reference("span", row.span_id, "spans");
  visit.key("track", row.track_id, "tracks");
  visit.reference("request", row.request_id, "requests");
  visit.reference("round", row.round_id, "rounds");
  visit.value("start_ns", row.start_ns);
  visit.value("end_ns", row.end_ns);
  visit.key("short_name", row.short_name_id, "strings");
  visit.value("layer", row.layer);
  visit.enumeration("phase", row.phase, phase_count, "phases");
  visit.value("stream_id", row.stream_id);
  visit.value("correlation_id", row.correlation_id);
  visit.value("graph_id", row.graph_id);
  visit.value("graph_node_id", row.graph_node_id);
  visit.value("grid_x", row.grid_x);
  visit.value("grid_y", row.grid_y);
  visit.value("grid_z", row.grid_z);
  visit.value("block_x", row.block_x);
  visit.value("block_y", row.block_y);
  visit.value("block_z", row.block_z);
  visit.value("bytes", row.bytes);
  visit.value("wait_ns", row.wait_ns);
  visit.value("first_end_ns", row.first_end_ns);
  visit.value("first_block", row.first_block);
  visit.value("last_block", row.last_block);
  visit.value("registers_per_thread", row.registers_per_thread);
  visit.value("static_shared_bytes", row.static_shared_bytes);
  visit.value("dynamic_shared_bytes", row.dynamic_shared_bytes);
}

template <RowOf<Counter> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.key("track", row.track_id, "tracks");
  visit.value("timestamp_ns", row.timestamp_ns);
  visit.value("value", row.value);
}

template <RowOf<LaneColumn> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.enumeration("lane", row.lane, lane_of_count, "lanes");
  visit.value("owner", row.owner);
  visit.value("depth", row.depth);
  visit.value("start_ns", row.start_ns);
  visit.enumeration("phase", row.phase, phase_count, "phases");
  visit.value("busy_ns", row.busy_ns);
}

template <RowOf<RoundColumn> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.key("run", row.run_id, "runs");
  visit.value("start_ns", row.start_ns);
  visit.value("rounds", row.rounds);
  visit.value("emitted", row.emitted);
  visit.value("most_emitted", row.max_emitted);
}

template <RowOf<RequestSum> Row, typename Visitor>
void visit_columns(Row& row, Visitor&& visit) {
  visit.key("request", row.request_id, "requests");
  visit.value("rounds", row.rounds);
  visit.value("drafted", row.drafted);
  visit.value("accepted", row.accepted);
  visit.value("emitted", row.emitted);
  visit.value("draft_steps", row.draft_steps);
  visit.value("draft_sublayers", row.draft_sublayers);
  visit.value("rounds_ns", row.rounds_ns);
  visit.value("draft_ns", row.draft_ns);
  visit.value("verify_ns", row.verify_ns);
  visit.value("accept_ns", row.accept_ns);
  visit.value("optimise_ns", row.optimise_ns);
  visit.value("control_ns", row.control_ns);
}

/// The primary key of a row, which determines the order in which its table is stored. A record with an id has
/// no other key.
template <typename Record>
[[nodiscard]] auto primary_key(const Record& row) {
  return std::tuple(row.id);
}
[[nodiscard]] inline auto primary_key(const DraftToken& row) {
  return std::tuple(row.round_id, row.index);
}
[[nodiscard]] inline auto primary_key(const ShadowToken& row) {
  return std::tuple(row.request_id, row.layer, row.position);
}
[[nodiscard]] inline auto primary_key(const TokenText& row) {
  return std::tuple(row.token);
}
[[nodiscard]] inline auto primary_key(const LaneColumn& row) {
  return std::tuple(row.lane, row.owner, row.depth, row.start_ns, row.phase);
}
[[nodiscard]] inline auto primary_key(const RoundColumn& row) {
  return std::tuple(row.run_id, row.start_ns);
}
[[nodiscard]] inline auto primary_key(const RequestSum& row) {
  return std::tuple(row.request_id);
}

}  // namespace draftscope::traces
