// SPDX-License-Identifier: GPL-3.0-or-later
// version_4.dstrace was written by the last writer of schema version 4; it is never written anew.
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../value_of.h"
#include "read_everything.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

std::filesystem::path version_4_file() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_4.dstrace";
}

TEST(Version4, IsReadInFullHasNoTimedOperationsAndBreaksNoRule) {
  EXPECT_EQ(read_everything(version_4_file()), "");
  auto reader = value_of(Reader::open(version_4_file()));
  EXPECT_EQ(reader.schema_version(), 4);
  int rows = 0;
  EXPECT_TRUE(reader.kernels([&](const Kernel& kernel) {
    EXPECT_EQ(kernel.bytes, 0);
    EXPECT_EQ(kernel.first_end_ns, 0);
    return ++rows > 0;
  }));
  EXPECT_GT(rows, 0);
}

/// Its recording was written by schema version 5.
TEST(Version5, HasNoRegistersAndBreaksNoRule) {
  const auto file =
      std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/h200-llama-1b-operations.dstrace";
  EXPECT_EQ(read_everything(file), "");
  auto reader = value_of(Reader::open(file));
  EXPECT_EQ(reader.schema_version(), 5);
  bool has_operations = false;
  EXPECT_TRUE(reader.kernels([&](const Kernel& kernel) {
    EXPECT_EQ(kernel.registers_per_thread, 0);
    has_operations = has_operations || kernel.first_end_ns > 0;
    return true;
  }));
  EXPECT_TRUE(has_operations);
}

TEST(Version4, KeepsItsRules) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  std::filesystem::copy_file(version_4_file(), path);
  change(path, "UPDATE rounds SET accepted = drafted + 1 WHERE id = 3");
  auto reader = value_of(Reader::open(path));
  const auto violations = value_of(reader.validate());
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations.front().table, "rounds");
}

class TooOldVersion : public ::testing::TestWithParam<int> {};

TEST_P(TooOldVersion, IsRefusedInOneLineThatNamesItAndWhatWasExpected) {
  const TestFolder folder;
  const auto path = folder / "old.dstrace";
  std::filesystem::copy_file(version_4_file(), path);
  change(path, fmt::format("PRAGMA user_version = {}", GetParam()));
  const auto reader = Reader::open(path);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message,
            fmt::format("{}: schema version is {}, expected 4 or newer", path.string(), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(SchemaVersions, TooOldVersion, ::testing::Values(-1, 0, 1, 2, 3));

/// Run it before the schema changes: DRAFTSCOPE_WRITE_VERSION=tests/traces/version_N.dstrace traces_test
/// --gtest_filter=Fixture.*
TEST(Fixture, IsWrittenByThePresentWriterWhereAsked) {
  const char* const path = std::getenv("DRAFTSCOPE_WRITE_VERSION");
  if (path == nullptr) GTEST_SKIP() << "nobody asked for it";
  make_sample_file(path, {.seed = 3});
}

}  // namespace
}  // namespace draftscope::traces
