// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_folder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "../temporary_folder.h"

namespace draftscope {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

TEST(AtomicFolder, AppearsWithAllItsFilesOrNotAtAll) {
  const test::TemporaryFolder folder;
  for (const bool is_committed : {false, true}) {
    auto whole = AtomicFolder::create(folder / "new/below/");
    ASSERT_TRUE(whole) << whole.error().message;
    write(whole->path() / "a", "1");
    if (is_committed) {
      ASSERT_TRUE(whole->commit());
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
  write(folder / "x/a", "old");
  write(folder / "x/other", "kept");
  auto whole = AtomicFolder::create(folder / "x");
  ASSERT_TRUE(whole);
  write(whole->path() / "a", "new");
  ASSERT_TRUE(whole->commit());
  EXPECT_EQ(text_of(folder / "x/a"), "new");
  EXPECT_EQ(text_of(folder / "x/other"), "kept");
  EXPECT_EQ(names_in(folder / ""), std::set<std::string>{"x"});
}

TEST(AtomicFolder, MovesNoFileIfOneHasNoPlace) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "x/b");
  write(folder / "x/a", "old");
  {
    auto whole = AtomicFolder::create(folder / "x");
    ASSERT_TRUE(whole);
    for (const char* const name : {"a", "b", "c"}) write(whole->path() / name, "new");
    const auto committed = whole->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().message,
              (folder / "x/b").string() + ": is a folder, expected a new or a regular file");
  }
  EXPECT_EQ(text_of(folder / "x/a"), "old");
  EXPECT_EQ(names_in(folder / "x"), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(names_in(folder / ""), std::set<std::string>{"x"});
}

TEST(AtomicFolder, IsRefusedWhereAFileStands) {
  const test::TemporaryFolder folder;
  write(folder / "x", "old");
  const auto refused = AtomicFolder::create(folder / "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            (folder / "x").string() + ": is not a folder, expected a new or an existing one");
  EXPECT_FALSE(AtomicFolder::create(""));
}

}  // namespace
}  // namespace draftscope
