// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/folder_names.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../temporary_folder.h"

namespace draftscope {
namespace {

namespace fs = std::filesystem;

TEST(FolderNames, AreAllButTheFolderAndTheOneAbove) {
  const test::TemporaryFolder folder;
  const fs::path inside = folder / "inside";
  fs::create_directory(inside);
  EXPECT_THAT(folder_names(inside).value(), testing::IsEmpty());
  std::ofstream(inside / "b") << 1;
  std::ofstream(inside / ".a") << 1;
  fs::create_directory(inside / "c");
  fs::create_symlink("nowhere", inside / "...");
  EXPECT_THAT(folder_names(inside).value(), testing::ElementsAre("...", ".a", "b", "c"));
}

TEST(FolderNames, NeedAFolder) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "file";
  std::ofstream(file) << 1;
  for (const fs::path& path : {file, fs::path(folder / "absent"), fs::path()}) {
    const auto names = folder_names(path);
    ASSERT_FALSE(names) << path;
    EXPECT_THAT(names.error().message, testing::HasSubstr("can't be read")) << path;
  }
}

}  // namespace
}  // namespace draftscope
