// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/query.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace draftscope::traces {
namespace {

class Query : public testing::Test {
 protected:
  void SetUp() override { make_sample_file(path_, {.runs = 2, .requests_per_run = 3}); }

  TestFolder folder_;
  std::filesystem::path path_ = folder_ / "trace.dstrace";
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

TEST_F(Query, CutsAtTheRowsThatWereAskedFor) {
  const auto result = query(path_, "SELECT id FROM spans", 5);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->rows.size(), 5U);
  EXPECT_TRUE(result->is_cut);
}

TEST_F(Query, RefusesInOneLineWhatDoesMoreThanRead) {
  const std::string before = read_file(path_);
  for (const char* sql : {"DELETE FROM runs", "ATTACH 'other.db' AS other", "PRAGMA user_version = 9",
                          "CREATE TABLE t (a)", "SELECT load_extension('x')", "SELECT 1; SELECT 2", "", "  ;",
                          "SELEC 1", "SELECT nothing FROM runs"}) {
    const auto result = query(path_, sql, 10);
    ASSERT_FALSE(result) << sql;
    EXPECT_THAT(result.error().message, testing::StartsWith("SQL: ")) << sql;
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << sql;
  }
  EXPECT_EQ(read_file(path_), before);
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
