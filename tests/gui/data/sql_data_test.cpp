// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the SQL page's list of tables, and which cells are links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/sql_schema.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;

TEST(Sql, KnowsEveryTableAndColumnOfTheFile) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace");
  const std::vector<SqlTable> tables =
      read_sql_schema(folder / "sample.dstrace", [] { return true; }).value();
  for (const std::vector<std::string>& row :
       traces::query(folder / "sample.dstrace",
                     "SELECT name, type FROM sqlite_schema WHERE type IN ('table', "
                     "'view') AND name NOT LIKE 'sqlite_%'")) {
    const auto table = std::ranges::find(tables, row[0], &SqlTable::name);
    ASSERT_NE(table, tables.end()) << row[0];
    EXPECT_EQ(table->is_view, row[1] == "view");
    EXPECT_FALSE(table->columns.empty()) << row[0];
    // Quote names as the tree does in a statement.
    for (const std::string& column : table->columns)
      EXPECT_TRUE(traces::query(folder / "sample.dstrace", "SELECT " + quoted_name(column) + " FROM " +
                                                               quoted_name(table->name) + " LIMIT 0")
                      .empty());
  }
  EXPECT_EQ(quoted_name("index"), "\"index\"");
  EXPECT_EQ(quoted_name("verify_rows"), "verify_rows");
  EXPECT_EQ(quoted_name("a\"b"), "\"a\"\"b\"");
}

TEST(Sql, LeadsFromIdsToWhatTheyName) {
  EXPECT_THAT(sql_links("SELECT round, request, run, drafted FROM round_figures",
                        {"round", "request", "run", "drafted"}),
              ElementsAre(SqlLink::round, SqlLink::request, SqlLink::run, SqlLink::none));
  EXPECT_THAT(sql_links("SELECT * FROM rounds WHERE 1 ORDER BY id, request", {"id", "request"}),
              ElementsAre(SqlLink::round, SqlLink::request));
  for (const char* statement :
       {"SELECT * FROM rounds AS r, runs", "SELECT id FROM rounds JOIN runs", "SELECT id FROM strings",
        "SELECT id FROM (SELECT id FROM rounds)", "FROM", ""})
    EXPECT_THAT(sql_links(statement, {"ID"}), ElementsAre(SqlLink::none)) << statement;
}

}  // namespace
}  // namespace draftscope::gui
