// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/remove_folder.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../temporary_folder.h"

namespace draftscope {
namespace {

namespace fs = std::filesystem;

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
