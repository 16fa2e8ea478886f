// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_folder.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "../temporary_folder.h"
#include "../value_of.h"

namespace draftscope {
namespace {

namespace fs = std::filesystem;

using test::bytes_of;
using test::write_bytes;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

TEST(AtomicFolder, AppearsWithAllItsFilesOrNotAtAll) {
  const test::TemporaryFolder folder;
  for (const bool is_committed : {false, true}) {
    auto whole = value_of(AtomicFolder::create(folder / "new/below/"));
    write_bytes(whole.path() / "a", "1");
    if (is_committed) {
      ASSERT_TRUE(whole.commit());
    }
    EXPECT_EQ(fs::exists(folder / "new/below"), is_committed);
  }
  EXPECT_EQ(names_in(folder / ""), std::set<std::string>{"new"});
  EXPECT_EQ(names_in(folder / "new"), std::set<std::string>{"below"});
  EXPECT_EQ(names_in(folder / "new/below"), std::set<std::string>{"a"});
}

TEST(AtomicFolder, LeavesNoFolderAboveWithoutACommit) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(AtomicFolder::create(folder / "new/below/it"));
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

TEST(AtomicFolder, AddsToAFolderThatIsThere) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "x");
  write_bytes(folder / "x/a", "old");
  write_bytes(folder / "x/other", "kept");
  auto whole = value_of(AtomicFolder::create(folder / "x"));
  write_bytes(whole.path() / "a", "new");
  ASSERT_TRUE(whole.commit());
  EXPECT_EQ(bytes_of(folder / "x/a"), "new");
  EXPECT_EQ(bytes_of(folder / "x/other"), "kept");
  EXPECT_EQ(names_in(folder / ""), std::set<std::string>{"x"});
}

TEST(AtomicFolder, MovesNoFileIfOneHasNoPlace) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "x/b");
  write_bytes(folder / "x/a", "old");
  {
    auto whole = value_of(AtomicFolder::create(folder / "x"));
    for (const char* const name : {"a", "b", "c"}) write_bytes(whole.path() / name, "new");
    const auto committed = whole.commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().message,
              (folder / "x/b").string() + ": is a folder, expected a new or a regular file");
  }
  EXPECT_EQ(bytes_of(folder / "x/a"), "old");
  EXPECT_EQ(names_in(folder / "x"), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(names_in(folder / ""), std::set<std::string>{"x"});
}

TEST(AtomicFolder, IsRefusedWhereAFileStands) {
  const test::TemporaryFolder folder;
  write_bytes(folder / "x", "old");
  const auto refused = AtomicFolder::create(folder / "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            (folder / "x").string() + ": is not a folder, expected a new or an existing one");
  EXPECT_FALSE(AtomicFolder::create(""));
}

TEST(RemoveFolderOfFiles, TakesHoweverManyFilesThereAre) {
  const test::TemporaryFolder folder;
  for (const int files : {0, 1, 1000}) {
    const fs::path inside = folder / "inside";
    fs::create_directory(inside);
    for (int i = 0; i < files; ++i) std::ofstream(inside / fmt::format("a file of a longer name {}", i)) << i;
    remove_folder_of_files(inside.c_str());
    EXPECT_FALSE(fs::exists(inside)) << files << " files";
  }
}

TEST(RemoveFolderOfFiles, LeavesFoldersAndFollowsNoLink) {
  const test::TemporaryFolder folder;
  const fs::path inside = folder / "inside";
  fs::create_directories(inside / "deeper");
  std::ofstream(folder / "outside") << "kept";
  fs::create_symlink(folder / "outside", inside / "link");
  remove_folder_of_files(inside.c_str());
  EXPECT_TRUE(fs::is_directory(inside / "deeper"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(inside / "link")));
  EXPECT_TRUE(fs::exists(folder / "outside"));
  remove_folder_of_files((folder / "absent").c_str());
}

}  // namespace
}  // namespace draftscope
