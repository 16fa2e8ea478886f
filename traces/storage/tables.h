// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace, one row each: creating, inserting, opening, validating, counting and exporting go
// through this list. What a table's columns are stands in columns.h, its SQL in schema.cpp.

#include <draftscope/base/result.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "storage/columns.h"

namespace draftscope::traces {

/// The way in which a table takes its rows while a recording goes on.
enum class Intake : std::uint8_t {
  single,     ///< few rows, one a statement
  bulk,       ///< many rows a statement
  droppable,  ///< many rows a statement; a full queue drops rows, a transaction may end between two
};

/// One table, whose rows are Records.
template <typename Record>
struct Table {
  std::string_view name;
  std::string_view key = "id";  ///< first column of the primary key, by which messages name a row
  std::string_view order = "";  ///< columns that readers sort its rows by; empty = as stored
  Intake intake = Intake::single;
  bool is_replaced = false;  ///< a later row of a key replaces the earlier
};

inline constexpr std::string_view by_track = "track, start_ns, id";

/// Parents come before children: a batch is inserted in this order, and rows are checked in it. Only the
/// table `meta`, which has texts alone, is not in the list.
inline constexpr std::tuple tables{
    Table<StringRow>{.name = "strings"},
    Table<Run>{.name = "runs"},
    Table<Prompt>{.name = "prompts"},
    Table<Request>{.name = "requests", .is_replaced = true},
    Table<LayerSet>{.name = "layer_sets"},
    Table<Round>{.name = "rounds"},
    Table<DraftToken>{.name = "draft_tokens", .key = "round"},
    Table<Decision>{.name = "decisions", .order = "start_ns, id"},
    Table<ShadowToken>{.name = "shadow_tokens",
                       .key = "request",
                       .order = "request, layer, position",
                       .intake = Intake::bulk},
    Table<TokenText>{.name = "token_texts", .key = "token", .is_replaced = true},
    Table<Track>{.name = "tracks"},
    Table<Span>{.name = "spans", .order = by_track, .intake = Intake::droppable},
    Table<Kernel>{.name = "kernels", .order = by_track, .intake = Intake::droppable},
    Table<Counter>{.name = "counters", .order = "track, timestamp_ns, id", .intake = Intake::droppable},
    Table<LaneColumn>{.name = "lane_columns", .key = "lane"},
    Table<RoundColumn>{.name = "round_columns", .key = "run"},
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

/// Collects names as a quoted, comma-separated list ("index" is a word of SQL). Of columns that a file of
/// `version` lacks it makes zeros.
struct ColumnNames {
  std::string_view table;
  int version;
  std::string list;
  void add(std::string_view name) {
    if (!list.empty()) list.append(", ");
    if (!has_column(version, table, name)) list.append("0 AS ");
    list.append("\"").append(name).append("\"");
  }
  template <typename Tag>
  void id(std::string_view name, Id<Tag> /*field*/) {
    add(name);
  }
  template <typename Tag>
  void key(std::string_view name, Id<Tag> /*field*/, std::string_view /*table*/) {
    add(name);
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag> /*field*/, std::string_view /*table*/) {
    add(name);
  }
  template <typename Field>
  void enumeration(std::string_view name, Field /*field*/, int /*values*/, std::string_view /*table*/) {
    add(name);
  }
  void millionths(std::string_view name, double /*field*/) { add(name); }
  template <typename Field>
  void value(std::string_view name, const Field& /*field*/) {
    add(name);
  }
};

/// The columns of a table, as SELECT and INSERT list them.
template <typename Record>
std::string column_list(int version = current_schema_version) {
  ColumnNames names{table_name<Record>, version, {}};
  const Record record{};
  visit_columns(record, names);
  return std::move(names.list);
}

}  // namespace draftscope::traces
