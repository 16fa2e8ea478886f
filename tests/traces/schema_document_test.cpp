// SPDX-License-Identifier: GPL-3.0-or-later
// Compares traces/SCHEMA.md with the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sample.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

std::string document() {
  return read_file(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/SCHEMA.md");
}

/// The ```sql blocks of the document.
std::vector<std::string> documented_queries() {
  const std::string text = document();
  std::vector<std::string> queries;
  const std::string opening = "```sql\n";
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    at += opening.size();
    queries.push_back(text.substr(at, text.find("```", at) - at));
  }
  return queries;
}

TEST(SchemaDocument, GivesQueriesThatRunAndFindRows) {
  const SampleFile file({.runs = 3, .requests_per_run = 6, .max_rounds = 20});
  const auto queries = documented_queries();
  EXPECT_GE(queries.size(), 10U);
  for (const std::string& sql : queries)
    EXPECT_FALSE(query(file.path, sql).empty()) << "no rows from:\n" << sql;
}

TEST(SchemaDocument, NamesEveryTableAndColumn) {
  const SampleFile file;
  const std::string text = document();
  const auto expect_named = [&](std::string_view table) {
    const std::string heading = "\n### " + std::string(table) + " ";
    const std::size_t start = std::min(text.find(heading), text.find("\n### " + std::string(table) + "\n"));
    ASSERT_NE(start, std::string::npos) << table;
    const std::string section = text.substr(start, text.find("\n##", start + 4) - start);
    for (const auto& row :
         query(file.path, "SELECT name FROM pragma_table_info('" + std::string(table) + "')"))
      EXPECT_NE(section.find("`" + row[0] + "`"), std::string::npos) << table << "." << row[0];
  };
  expect_named("meta");
  for_each_table([&](const auto& table) { expect_named(table.name); });
  for (const auto& row : query(file.path, "SELECT name FROM sqlite_schema WHERE type = 'view'"))
    EXPECT_NE(text.find("`" + row[0] + "`"), std::string::npos) << row[0];
}

template <typename Record>
void expect_columns_of(const std::filesystem::path& path) {
  std::string columns;
  for (const auto& row :
       query(path, "SELECT name FROM pragma_table_info('" + std::string(table_name<Record>) + "')"))
    columns += (columns.empty() ? "\"" : ", \"") + row[0] + "\"";
  if (std::is_same_v<Record, Counter>)
    columns.erase(0, std::string("\"id\", ").size());  // the one extra column
  EXPECT_EQ(columns, column_list<Record>()) << table_name<Record>;
}

TEST(Schema, HasTheColumnsOfTheRecordsInTheirOrder) {
  const SampleFile file;
  for_each_table(
      [&]<typename Record>(const Table<Record>& /*table*/) { expect_columns_of<Record>(file.path); });
}

TEST(Schema, DeclaresEveryReferenceAndASampleKeepsThem) {
  const SampleFile file;
  EXPECT_TRUE(query(file.path, "PRAGMA foreign_key_check").empty());
  EXPECT_EQ(
      query(file.path, "SELECT count(*) FROM pragma_table_list AS t, pragma_foreign_key_list(t.name)")[0][0],
      "29");
  EXPECT_TRUE(query(file.path,
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = "
                    "'table' AND name NOT LIKE 'sqlite_%' AND NOT strict")
                  .empty());
}

TEST(Views, AgreeWithTheRecords) {
  const SampleFile file({.requests_per_run = 4});
  const Recording& recording = file.sample.recording;
  std::int64_t drafted = 0, accepted = 0, emitted = 0, rounds = 0;
  const RunId run_id = recording.runs.back().id;
  std::set<RequestId> requests;
  for (const Request& request : recording.requests)
    if (request.run_id == run_id) requests.insert(request.id);
  for (const Round& round : recording.rounds) {
    if (!requests.contains(round.request_id)) continue;
    ++rounds;
    drafted += round.drafted;
    accepted += round.accepted;
    emitted += round.emitted;
  }
  const auto figures =
      query(file.path,
            "SELECT requests, rounds, drafted, accepted, acceptance_rate, emitted_tokens_per_round "
            "FROM run_figures WHERE run = " +
                std::to_string(run_id.value()));
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0][0], std::to_string(requests.size()));
  EXPECT_EQ(figures[0][1], std::to_string(rounds));
  EXPECT_EQ(figures[0][2], std::to_string(drafted));
  EXPECT_EQ(figures[0][3], std::to_string(accepted));
  EXPECT_NEAR(std::stod(figures[0][4]), static_cast<double>(accepted) / static_cast<double>(drafted), 1e-9);
  EXPECT_NEAR(std::stod(figures[0][5]), static_cast<double>(emitted) / static_cast<double>(rounds), 1e-9);
}

}  // namespace
}  // namespace draftscope::traces
