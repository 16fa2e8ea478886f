// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "reading/scan.h"
#include "storage/columns.h"
#include "storage/overview_builder.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

template <typename Record, typename Visit>
Result<void> scan_fit(OpenTrace& trace, Visit visit) {
  return scan<Record>(
      trace, "", "",
      [&](const Record& row) {
        visit(row);
        return true;
      },
      [](std::int64_t /*row*/, const std::string& /*words*/) { return true; });
}

Result<std::optional<Overview>> overview_of_rows(OpenTrace& trace) {
  OverviewBuilder builder;
  const auto add_rows = [&]<typename Record>(const Table<Record>& /*table*/) -> Result<void> {
    if constexpr (SummedUp<Record>)
      return scan_fit<Record>(trace, [&](const Record& row) { builder.add(row); });
    else
      return {};
  };
  DRAFTSCOPE_TRY(try_each_table(add_rows));
  return builder.finish();
}

/// Key and sums of a row, by name.
struct Fields {
  std::vector<std::pair<std::string_view, std::int64_t>> list;
  template <typename Tag>
  void key(std::string_view name, Id<Tag> field, std::string_view /*table*/) {
    value(name, field.value());
  }
  template <typename Field>
  void enumeration(std::string_view name, Field field, int /*values*/, std::string_view /*table*/) {
    value(name, static_cast<std::int64_t>(field));
  }
  template <typename Field>
  void value(std::string_view name, Field field) {
    list.emplace_back(name, static_cast<std::int64_t>(field));
  }
};

template <typename Record>
std::vector<std::pair<std::string_view, std::int64_t>> fields(const Record& row) {
  Fields visitor;
  visit_columns(row, visitor);
  return visitor.list;
}

template <typename Record>
constexpr std::size_t key_fields = std::tuple_size_v<decltype(primary_key(std::declval<Record>()))>;

template <typename Record>
std::string key_words(const Record& row) {
  std::string words;
  const auto all = fields(row);
  for (std::size_t i = 0; i < key_fields<Record>; ++i)
    words += fmt::format("{}{} {}", i == 0 ? "" : ", ", all[i].first, all[i].second);
  return words;
}

template <typename Record>
std::int64_t row_id(const Record& row) {
  if constexpr (std::is_same_v<Record, LaneColumn>)
    return row.owner;
  else
    return fields(row).front().second;
}

template <typename Record>
Result<void> compare(OpenTrace& trace, const std::vector<Record>& expected,
                     std::vector<Violation>& differences) {
  std::size_t next = 0;
  const std::string table(table_name<Record>);
  const std::size_t before = differences.size();
  const auto scanned = scan<Record>(
      trace, "", "",
      [&](const Record& row) {
        if (next == expected.size() || primary_key(row) < primary_key(expected[next])) {
          differences.push_back({table, row_id(row), key_words(row) + ": no rows give this one"});
        } else if (primary_key(expected[next]) < primary_key(row)) {
          differences.push_back(
              {table, row_id(expected[next]), key_words(expected[next]) + ": is missing, but rows give it"});
        } else {
          const auto stored = fields(row);
          const auto given = fields(expected[next]);
          for (std::size_t i = 0; i < stored.size() && differences.size() == before; ++i)
            if (stored[i].second != given[i].second)
              differences.push_back({table, row_id(row),
                                     fmt::format("{}: {} is {}, but the rows give {}", key_words(row),
                                                 stored[i].first, stored[i].second, given[i].second)});
        }
        ++next;
        return differences.size() == before;
      },
      [](std::int64_t /*row*/, const std::string& /*words*/) { return false; });
  if (!scanned) {
    DRAFTSCOPE_TRY_ASSIGN(std::string words, damage_found(trace, table));
    differences.push_back({table, 0, std::move(words)});
  } else if (differences.size() == before && next < expected.size()) {
    differences.push_back(
        {table, row_id(expected[next]), key_words(expected[next]) + ": is missing, but rows give it"});
  }
  return {};
}

/// Makes the one violation of a table that could not be read.
Result<std::vector<Violation>> unread(const OpenTrace& trace, std::string table) {
  DRAFTSCOPE_TRY_ASSIGN(std::string words, damage_found(trace, table));
  return std::vector<Violation>{{std::move(table), 0, std::move(words)}};
}

}  // namespace

Result<std::vector<Violation>> overview_differences(OpenTrace& trace) {
  const std::string name = trace.path.string();
  const auto stated =
      query_text(trace.database.get(), name,
                 fmt::format("SELECT coalesce((SELECT value FROM meta WHERE key = '{}'), '')", overview_key));
  if (!stated) return unread(trace, "meta");
  std::vector<Violation> differences;
  const auto differ_in_key = [&](std::string words) {
    differences.push_back({"meta", 0, fmt::format("{} is {}, but {}", overview_key, *stated, words)});
    return differences;
  };
  Overview expected;
  if (!stated->empty()) {
    auto made = overview_of_rows(trace);
    if (!made) return unread(trace, "file");
    if (!*made) return differ_in_key("the rows have no overview");
    expected = std::move(**made);
    if (std::to_string(expected.column_ns) != *stated)
      return differ_in_key(fmt::format("the rows give {}", expected.column_ns));
  }
  DRAFTSCOPE_TRY(compare(trace, expected.lanes, differences));
  DRAFTSCOPE_TRY(compare(trace, expected.rounds, differences));
  DRAFTSCOPE_TRY(compare(trace, expected.requests, differences));
  return differences;
}

}  // namespace draftscope::traces
