// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace, one row each: creating, inserting, opening, validating, counting and exporting use
// this list. columns.h defines a table's columns; both together give its SQL.

#include <draftscope/base/result.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "storage/columns.h"

namespace draftscope::traces {

/// The way in which a table takes its rows during a recording.
enum class Intake : std::uint8_t {
  single,     ///< Few rows, one per statement.
  bulk,       ///< Many rows per statement.
  droppable,  ///< Many rows per statement; a full queue drops rows, and a transaction may end between two.
};

/// A table with rows of type Record.
template <typename Record>
struct Table {
  std::string_view name;
  std::string_view key = "id";  ///< First column of the primary key, by which messages name a row.
  std::string_view order = "";  ///< Columns that readers sort its rows by; empty = as stored.
  Intake intake = Intake::single;
  bool is_replaced = false;  ///< Whether a later row of a key replaces the earlier.
  /// Columns of a primary key of several, in whose order the rows are stored; empty = only `key`.
  std::string_view primary_key = "";
};

inline constexpr std::string_view by_track = "track, start_ns, id";

/// The tables. Parents come before children: a batch is inserted in this order, and rows are checked in it.
/// Only the table `meta`, which has only texts, is not in the list.
inline constexpr std::tuple tables{
    Table<StringRow>{.name = "strings"},
    Table<Run>{.name = "runs"},
    Table<Prompt>{.name = "prompts"},
    Table<Request>{.name = "requests", .is_replaced = true},
    Table<LayerSet>{.name = "layer_sets"},
    Table<Round>{.name = "rounds"},
    Table<DraftToken>{.name = "draft_tokens", .key = "round", .primary_key = R"(round, "index")"},
    Table<Decision>{.name = "decisions", .order = "start_ns, id"},
    Table<ShadowToken>{.name = "shadow_tokens",
                       .key = "request",
                       .order = "request, layer, position",
                       .intake = Intake::bulk,
                       .primary_key = "request, layer, position"},
    Table<TokenText>{.name = "token_texts", .key = "token", .is_replaced = true},
    Table<Track>{.name = "tracks"},
    Table<Span>{.name = "spans", .order = by_track, .intake = Intake::droppable},
    Table<Kernel>{.name = "kernels", .order = by_track, .intake = Intake::droppable},
    Table<Counter>{.name = "counters", .order = "track, timestamp_ns, id", .intake = Intake::droppable},
    Table<LaneColumn>{
        .name = "lane_columns", .key = "lane", .primary_key = "lane, owner, depth, start_ns, phase"},
    Table<RoundColumn>{.name = "round_columns", .key = "run", .primary_key = "run, start_ns"},
    Table<RequestSum>{.name = "request_sums", .key = "request"},
};

template <typename Record>
inline constexpr const Table<Record>& table_of = std::get<Table<Record>>(tables);

template <typename Record>
inline constexpr std::string_view table_name = table_of<Record>.name;

/// Calls action(table) for each table in the order of the list.
template <typename Action>
void for_each_table(Action action) {
  std::apply([&](const auto&... table) { (action(table), ...); }, tables);
}

/// Calls action(table), which gives a Result<void>, for each table until one fails; returns that error.
template <typename Action>
[[nodiscard]] Result<void> try_each_table(Action action) {
  Result<void> result;
  std::apply(
      [&](const auto&... table) {
        const auto succeeds = [&](const auto& one) {
          result = action(one);
          return result.has_value();
        };
        static_cast<void>((succeeds(table) && ...));
      },
      tables);
  return result;
}

template <typename List, template <typename> typename Of>
struct EachTable;
template <typename... Records, template <typename> typename Of>
struct EachTable<std::tuple<Table<Records>...>, Of> {
  using Tuple = std::tuple<Of<Records>...>;
};

/// A tuple of an Of<Record> for each table.
template <template <typename> typename Of>
using PerTable = typename EachTable<std::remove_const_t<decltype(tables)>, Of>::Tuple;

/// A column as SQL declares it.
struct StoredColumn {
  std::string_view name;
  std::string_view type;             ///< "INTEGER", "REAL", "TEXT" or "BLOB".
  std::string_view referenced = "";  ///< Table whose id it contains; empty = none.
  bool is_nullable = false;
};

/// Visitor that collects a record's columns.
struct ColumnCollector {
  std::vector<StoredColumn> columns;
  template <typename Tag>
  void id(std::string_view name, Id<Tag> /*field*/) {
    columns.push_back({name, "INTEGER"});
  }
  template <typename Tag>
  void key(std::string_view name, Id<Tag> /*field*/, std::string_view table) {
    columns.push_back({name, "INTEGER", table});
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag> /*field*/, std::string_view table) {
    columns.push_back({name, "INTEGER", table, true});
  }
  template <typename Field>
  void enumeration(std::string_view name, Field /*field*/, int /*values*/, std::string_view table) {
    columns.push_back({name, "INTEGER", table});
  }
  void millionths(std::string_view name, double /*field*/) { columns.push_back({name, "INTEGER", "", true}); }
  template <typename Field>
  void value(std::string_view name, const Field& /*field*/) {
    constexpr bool is_real = std::is_floating_point_v<Field>;
    columns.push_back({name,
                       is_real                              ? "REAL"
                       : std::is_integral_v<Field>          ? "INTEGER"
                       : std::is_same_v<Field, std::string> ? "TEXT"
                                                            : "BLOB",
                       "", is_real});
  }
};

template <typename Record>
std::vector<StoredColumn> stored_columns() {
  ColumnCollector collector;
  const Record record{};
  visit_columns(record, collector);
  return std::move(collector.columns);
}

/// The columns of a table as a quoted list for SELECT and INSERT ("index" is a keyword of SQL). Columns that
/// a file of `version` lacks become zeros.
template <typename Record>
std::string column_list(int version = current_schema_version) {
  std::string list;
  for (const StoredColumn& column : stored_columns<Record>()) {
    if (!list.empty()) list.append(", ");
    if (!has_column(version, table_name<Record>, column.name)) list.append("0 AS ");
    list.append("\"").append(column.name).append("\"");
  }
  return list;
}

}  // namespace draftscope::traces
