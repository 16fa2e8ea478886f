// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/query.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../value_of.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

class Query : public testing::Test {
 protected:
  SampleFile file_;
  const std::filesystem::path& path_ = file_.path;
};

TEST_F(Query, GivesColumnsAndTypedRows) {
  const auto result = query(
      path_,
      "SELECT id, specification, 0.5 AS half, NULL AS missing, x'0102' AS bytes FROM runs ORDER BY id;\n",
      10);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->columns, testing::ElementsAre("id", "specification", "half", "missing", "bytes"));
  ASSERT_EQ(result->rows.size(), 2U);
  EXPECT_EQ(result->rows[0][0], SqlValue(std::int64_t{1}));
  EXPECT_EQ(result->rows[0][2], SqlValue(0.5));
  EXPECT_EQ(result->rows[0][3], SqlValue());
  EXPECT_EQ(result->rows[0][4], SqlValue(std::string("2 bytes")));
  EXPECT_FALSE(result->is_cut);
}

TEST_F(Query, CountsAsAcceptedWhatReachedTheTextWhateverViewsTheFileHas) {
  // All rounds end texts amid their drafts, half of them by an end token (stop 0), half by a string (5).
  change(path_,
         "UPDATE rounds SET emitted = accepted / 2; UPDATE requests SET stop = 5 * (id % 2);"
         "DROP VIEW run_figures; CREATE VIEW run_figures AS SELECT 1 AS run, 999 AS accepted;");
  const auto accepted = [&](const char* sql) { return value_of(query(path_, sql, 10)).rows; };
  const auto expected = accepted(
      "SELECT run, sum(min(accepted, accepted / 2 + (stop = 0))) FROM rounds JOIN requests ON requests.id = "
      "request WHERE requests.end_ns > 0 GROUP BY run ORDER BY run");
  ASSERT_EQ(expected.size(), 2U);
  EXPECT_EQ(accepted("SELECT run, accepted FROM run_figures ORDER BY run"), expected);
  EXPECT_EQ(accepted("SELECT run, sum(accepted) FROM round_figures GROUP BY run ORDER BY run"), expected);
}

TEST_F(Query, TakesCommentsAndSemicolonsAfterItsStatement) {
  for (const char* const after : {";", "; -- the runs", ";; /* all */ ;\n-- of them"})
    EXPECT_TRUE(query(path_, std::string("SELECT id FROM runs") + after, 10)) << after;
  EXPECT_FALSE(query(path_, "SELECT id FROM runs; -- and\nSELECT 2", 10));
  EXPECT_FALSE(query(path_, std::string("SELECT id FROM runs;") + '\0', 10));
}

TEST_F(Query, CutsAtTheRowsThatWereAskedFor) {
  const auto result = value_of(query(path_, "SELECT id FROM spans", 5));
  EXPECT_EQ(result.rows.size(), 5U);
  EXPECT_TRUE(result.is_cut);
}

TEST_F(Query, RefusesInOneLineWhatDoesMoreThanRead) {
  const std::string before = read_file(path_);
  for (const char* sql : {"DELETE FROM runs", "ATTACH 'other.db' AS other", "PRAGMA user_version = 9",
                          "CREATE TABLE t (a)", "SELECT load_extension('x')", "SELECT 1; SELECT 2", "", "  ;",
                          "SELEC 1", "SELECT nothing FROM runs", "SELECT [a\nb] FROM runs"}) {
    const auto result = query(path_, sql, 10);
    ASSERT_FALSE(result) << sql;
    EXPECT_THAT(result.error().message, testing::StartsWith("SQL: ")) << sql;
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << sql;
  }
  EXPECT_EQ(read_file(path_), before);
}

/// A query that gives endless numbers, each with a text of some bytes.
std::string endless(int text_bytes) {
  return fmt::format(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob({})) FROM n",
      text_bytes / 2);
}

TEST_F(Query, EndsWithARowThatMemoryHolds) {
  constexpr int text_bytes = 4 << 20;
  const auto result = value_of(query(path_, endless(text_bytes), 1'000'000));
  EXPECT_TRUE(result.is_cut);
  EXPECT_EQ(result.rows.size(), 63U) << "of 256 MiB, beside the numbers";
  for (const std::vector<SqlValue>& row : result.rows)
    EXPECT_EQ(std::get<std::string>(row[1]).size(), text_bytes);
}

TEST_F(Query, RefusesValuesAndRowsThatNoMemoryHolds) {
  EXPECT_TRUE(query(path_, endless(7 << 20), 1));
  EXPECT_FALSE(query(path_, endless(9 << 20), 1));
  const auto columns = [](int count) {
    std::string sql = "SELECT 0";
    for (int i = 1; i < count; ++i) sql += ",0";
    return sql;
  };
  EXPECT_TRUE(query(path_, columns(256), 1));
  EXPECT_FALSE(query(path_, columns(257), 1));
  const auto refused = query(path_, "SELECT " + std::string(1'000'000, 'x'), 1);
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 200U);
}

TEST_F(Query, EndsWhenItIsCancelled) {
  const auto result =
      query(path_, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            10, [] { return false; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "cancelled");
}

}  // namespace
}  // namespace draftscope::traces
