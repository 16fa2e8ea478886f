// SPDX-License-Identifier: GPL-3.0-or-later
// Each version_N.dstrace was written by the last writer of schema version N; it is never written anew.
#include <draftscope/traces/exporters.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "read_everything.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

std::filesystem::path version_1_file() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_1.dstrace";
}

TEST(Version1, IsReadInFullAndBreaksNoRule) {
  EXPECT_EQ(read_everything(version_1_file()), "");
  auto reader = Reader::open(version_1_file());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->schema_version(), 1);
}

TEST(Version1, HasNoRowsInTheTablesThatItLacks) {
  auto reader = Reader::open(version_1_file());
  ASSERT_TRUE(reader) << reader.error().message;
  const auto seen_nothing = [](const auto& /*row*/) {
    ADD_FAILURE() << "a row";
    return true;
  };
  EXPECT_TRUE(reader->decisions(seen_nothing));
  EXPECT_TRUE(reader->shadow_tokens(seen_nothing));
  const auto counts = reader->row_counts();
  ASSERT_TRUE(counts) << counts.error().message;
  std::map<std::string, std::int64_t> rows;
  for (const TableCount& count : *counts) rows[count.table] = count.rows;
  EXPECT_EQ(rows, (std::map<std::string, std::int64_t>{{"counters", 15},
                                                       {"decisions", 0},
                                                       {"draft_tokens", 23},
                                                       {"kernels", 29},
                                                       {"lane_columns", 0},
                                                       {"layer_sets", 4},
                                                       {"meta", 7},
                                                       {"prompts", 3},
                                                       {"request_sums", 0},
                                                       {"requests", 6},
                                                       {"round_columns", 0},
                                                       {"rounds", 9},
                                                       {"runs", 2},
                                                       {"shadow_tokens", 0},
                                                       {"spans", 102},
                                                       {"strings", 9},
                                                       {"token_texts", 0},
                                                       {"tracks", 3}}));
}

TEST(Version2, IsReadInFullAndBreaksNoRule) {
  const auto file = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_2.dstrace";
  EXPECT_EQ(read_everything(file), "");
  auto reader = Reader::open(file);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->schema_version(), 2);
  const auto texts = reader->token_texts();
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_TRUE(texts->empty());
}

TEST(Version3, IsReadInFullHasNoOverviewAndBreaksNoRule) {
  const auto file = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_3.dstrace";
  EXPECT_EQ(read_everything(file), "");
  auto reader = Reader::open(file);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->schema_version(), 3);
  const std::atomic<bool> never{false};
  auto bulk = BulkReader::open(file, never);
  ASSERT_TRUE(bulk) << bulk.error().message;
  const auto overview = bulk->overview();
  ASSERT_TRUE(overview) << overview.error().message;
  EXPECT_FALSE(*overview);
  const auto texts = reader->token_texts();
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_FALSE(texts->empty());
}

TEST(Version4, IsReadInFullHasNoTimedOperationsAndBreaksNoRule) {
  const auto file = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_4.dstrace";
  EXPECT_EQ(read_everything(file), "");
  auto reader = Reader::open(file);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->schema_version(), 4);
  int rows = 0;
  EXPECT_TRUE(reader->kernels([&](const Kernel& kernel) {
    EXPECT_EQ(kernel.bytes, 0);
    EXPECT_EQ(kernel.first_end_ns, 0);
    return ++rows > 0;
  }));
  EXPECT_GT(rows, 0);
}

/// Before the schema changes: DRAFTSCOPE_WRITE_VERSION=tests/traces/version_N.dstrace traces_test
/// --gtest_filter=Fixture.*
TEST(Fixture, IsWrittenByThePresentWriterWhereAsked) {
  const char* const path = std::getenv("DRAFTSCOPE_WRITE_VERSION");
  if (path == nullptr) GTEST_SKIP() << "nobody asked for it";
  make_sample_file(path, {.seed = 3});
}

TEST(Version1, GetsItsTreeDepthsFromTheDraftTokens) {
  auto reader = Reader::open(version_1_file());
  ASSERT_TRUE(reader) << reader.error().message;
  const auto recording = reader->recording();
  ASSERT_TRUE(recording) << recording.error().message;
  std::vector<std::pair<std::int32_t, std::int32_t>> drafted_and_deep;
  for (const Round& round : recording->rounds) {
    EXPECT_EQ(round.optimise_ns, 0);
    if (round.drafted > 0) drafted_and_deep.emplace_back(round.drafted, round.tree_depth);
  }
  // Parents of the second round's draft tokens: -1 0 0 -1 2.
  EXPECT_THAT(drafted_and_deep,
              testing::ElementsAre(testing::Pair(6, 6), testing::Pair(5, 3), testing::Pair(6, 6),
                                   testing::Pair(3, 3), testing::Pair(3, 3)));
}

TEST(Version1, CountsARoundWithoutItsDraftTokensAsAChain) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  std::filesystem::copy_file(version_1_file(), path);
  change(path, "DELETE FROM draft_tokens WHERE round = 3 AND \"index\" = 4");
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto recording = reader->recording();
  ASSERT_TRUE(recording) << recording.error().message;
  for (const Round& round : recording->rounds) EXPECT_EQ(round.tree_depth, round.drafted) << round.id;
}

TEST(Version1, GoesOutInEveryFormat) {
  const TestFolder folder;
  auto reader = Reader::open(version_1_file());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(export_perfetto(*reader, folder / "trace.pftrace"));
  EXPECT_TRUE(export_chrome(*reader, folder / "trace.json"));
  EXPECT_TRUE(export_csv(*reader, folder / "csv"));
  EXPECT_TRUE(export_spec_bench(*reader, folder / "answers"));
  EXPECT_EQ(read_file(folder / "csv/decisions.csv"),
            "id,request,round,kind,start_ns,end_ns,score,adopted,detail\r\n");
  EXPECT_THAT(read_file(folder / "trace.json"), testing::Not(testing::HasSubstr("decision")));
}

TEST(Version1, KeepsTheRulesThatItHas) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  std::filesystem::copy_file(version_1_file(), path);
  change(path, "UPDATE rounds SET accepted = drafted + 1 WHERE id = 3");
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto violations = reader->validate();
  ASSERT_TRUE(violations) << violations.error().message;
  ASSERT_FALSE(violations->empty());
  EXPECT_EQ(violations->front().table, "rounds");
}

}  // namespace
}  // namespace draftscope::traces
