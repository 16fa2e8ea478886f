// SPDX-License-Identifier: GPL-3.0-or-later
// What the SQL page knows of tables, what it offers while a statement is written, and which cells lead
// somewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "data/sql_completion.h"
#include "data/sql_link.h"
#include "data/sql_schema.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class Sql : public testing::Test {
 protected:
  Sql() {
    traces::make_sample_file(folder_ / "sample.dstrace");
    schema_ = read_sql_schema(folder_ / "sample.dstrace", [] { return true; }).value();
  }
  /// Offers where | stands.
  [[nodiscard]] SqlCompletion at(std::string statement) const {
    const std::size_t cursor = statement.find('|');
    statement.erase(cursor, 1);
    return complete_sql(schema_, statement, cursor);
  }

  traces::TestFolder folder_;
  SqlSchema schema_;
};

TEST_F(Sql, KnowsEveryTableAndColumnOfTheFile) {
  for (const std::vector<std::string>& row :
       traces::query(folder_ / "sample.dstrace",
                     "SELECT name, type FROM sqlite_schema WHERE type IN ('table', "
                     "'view') AND name NOT LIKE 'sqlite_%'")) {
    const SqlTable* table = schema_.table(row[0]);
    ASSERT_NE(table, nullptr) << row[0];
    EXPECT_EQ(table->is_view, row[1] == "view");
    EXPECT_FALSE(table->columns.empty()) << row[0];
  }
  EXPECT_EQ(schema_.table("ROUNDS"), schema_.table("rounds"));
  for (const SqlColumn& column : schema_.table("draft_tokens")->columns)
    EXPECT_EQ(column.type, column.name == "confidence" || column.name == "probability" ? "REAL" : "INTEGER")
        << column.name;
  EXPECT_EQ(quoted_name("index"), "\"index\"");
  EXPECT_EQ(quoted_name("verify_rows"), "verify_rows");
  EXPECT_EQ(quoted_name("a\"b"), "\"a\"\"b\"");
}

TEST_F(Sql, OffersColumnsOfTheTablesThatAStatementNames) {
  EXPECT_THAT(at("SELECT acc| FROM rounds").words, ElementsAre("accepted", "accept_ns"));
  EXPECT_EQ(at("SELECT acc| FROM rounds").begin, 7U);
  EXPECT_THAT(at("SELECT r.ver| FROM rounds r").words, ElementsAre("verify_rows", "verify_ns"));
  EXPECT_THAT(at("SELECT r.| FROM rounds AS r").words, Contains("\"index\""));
  EXPECT_THAT(at("SELECT r.| FROM rounds AS r").words, Not(Contains("SELECT")));
  EXPECT_THAT(at("SELECT * FROM rou|").words, ElementsAre("round_columns", "rounds", "round_figures"));
  EXPECT_THAT(at("SELECT * FROM rounds JOIN req|").words,
              ElementsAre("request_stops", "request_sums", "requests", "request_figures"));
  EXPECT_THAT(at("SELECT spec| FROM rounds, runs").words, Contains("specification"));
  EXPECT_THAT(at("sel|").words, Contains("SELECT"));
  EXPECT_THAT(at("SELECT 'rou|nds'").words, testing::IsEmpty());
  EXPECT_THAT(at("SELECT 1 -- rou|").words, testing::IsEmpty());
}

TEST_F(Sql, TakesAnyStatement) {
  std::mt19937 random(7);
  const std::vector<std::string> parts{
      "SELECT ", "rounds", " FROM ", ".", ",",    "'", "\"",   "`",    "[", "]", "--",
      "/*",      "*/",     "\n",     "é", "\xC3", "r", " AS ", "12.5", "(", ")", std::string(1, '\0')};
  for (int i = 0; i < 20000; ++i) {
    std::string statement;
    for (std::uint32_t part = random() % 12; part > 0; --part) statement += parts[random() % parts.size()];
    // Tokens cover the statement in order.
    std::size_t end = 0;
    for (const SqlToken& token : sql_tokens(statement)) {
      EXPECT_GE(token.begin, end);
      EXPECT_GT(token.end, token.begin);
      end = token.end;
    }
    EXPECT_LE(end, statement.size());
    const std::size_t cursor = random() % (statement.size() + 3);
    EXPECT_LE(complete_sql(schema_, statement, cursor).begin, std::min(cursor, statement.size()));
  }
}

TEST_F(Sql, LeadsFromIdsToWhatTheyName) {
  EXPECT_THAT(sql_links(schema_, "SELECT round, request, run, drafted FROM round_figures",
                        {"round", "request", "run", "drafted"}),
              ElementsAre(SqlLink::round, SqlLink::request, SqlLink::run, SqlLink::none));
  EXPECT_THAT(sql_links(schema_, "SELECT * FROM rounds WHERE 1", {"id", "request"}),
              ElementsAre(SqlLink::round, SqlLink::request));
  EXPECT_THAT(sql_links(schema_, "SELECT * FROM rounds, runs", {"id"}), ElementsAre(SqlLink::none));
  EXPECT_THAT(sql_links(schema_, "SELECT id FROM strings", {"ID"}), ElementsAre(SqlLink::none));
}

}  // namespace
}  // namespace draftscope::gui
