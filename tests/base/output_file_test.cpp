// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/output_file.h>
#include <draftscope/base/text_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../temporary_folder.h"

namespace draftscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFile : public ::testing::Test {
 protected:
  OutputFile() {
    std::ofstream(folder_ / "input") << "what is read";
    fs::create_hard_link(folder_ / "input", folder_ / "hard");
    fs::create_symlink(folder_ / "input", folder_ / "soft");
    fs::create_directory(folder_ / "folder");
    ::mkfifo((folder_ / "pipe").c_str(), 0600);
  }

  [[nodiscard]] std::string refusal(const fs::path& target, bool overwrite = true) const {
    const std::vector<fs::path> inputs{folder_ / "input", folder_ / "absent"};
    const auto checked = check_output_file(target, {inputs, overwrite});
    return checked ? "" : checked.error().message;
  }

  const test::TemporaryFolder folder_;
};

TEST_F(OutputFile, IsANewFileOrOneThatMayBeReplaced) {
  EXPECT_EQ(refusal(folder_ / "new", false), "");
  std::ofstream(folder_ / "old") << "old";
  EXPECT_EQ(refusal(folder_ / "old", true), "");
  EXPECT_THAT(refusal(folder_ / "old", false), HasSubstr("exists already"));
}

TEST_F(OutputFile, IsRefusedWhereItsNameNamesNoFile) {
  EXPECT_THAT(refusal(""), HasSubstr("found an empty name"));
  for (const char* name : {":memory:", "file:x.dstrace", "file::memory:?cache=shared"})
    EXPECT_THAT(refusal(name), HasSubstr("names no file for SQLite")) << name;
  EXPECT_THAT(refusal(folder_ / "folder/"), HasSubstr("found a folder's name"));
  EXPECT_THAT(refusal(folder_ / "folder"), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(folder_ / "pipe"), HasSubstr("found a device or a pipe"));
  EXPECT_THAT(refusal("/dev/full"), HasSubstr("found a device or a pipe"));
  EXPECT_THAT(refusal(folder_ / "absent" / "new"), HasSubstr("found no folder"));
}

TEST_F(OutputFile, IsNoInputUnderAnyName) {
  for (const char* name : {"input", "hard", "soft", "folder/../input"})
    EXPECT_THAT(refusal(folder_ / name), HasSubstr("is the same file as the input")) << name;
}

TEST_F(OutputFile, NeedsAFolderThatTakesFiles) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes into every folder";
  fs::permissions(folder_ / "folder", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(refusal(folder_ / "folder" / "new"), HasSubstr("can't be written to"));
}

TEST_F(OutputFile, MayBeAFolderThatIsEmpty) {
  const auto refused = [](const fs::path& target, bool overwrite) {
    const auto checked = check_output_folder(target, {{}, overwrite});
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(refused(folder_ / "folder", false), "");
  EXPECT_EQ(refused(folder_ / "new", false), "");
  EXPECT_THAT(refused(folder_.path(), false), HasSubstr("is not empty"));
  EXPECT_EQ(refused(folder_.path(), true), "");
  EXPECT_THAT(refused(folder_ / "input", true), HasSubstr("found a file, expected a folder"));
  EXPECT_THAT(refused("", true), HasSubstr("found an empty name"));
}

TEST_F(OutputFile, LooksAtTheSameKindsOfFilesAsReadingDoes) {
  EXPECT_EQ(read_text_file(folder_ / "soft", 100), "what is read");
  EXPECT_THAT(read_text_file(folder_ / "input", 11).error().message,
              HasSubstr("found 12 bytes, expected at most 11"));
  EXPECT_THAT(read_text_file(folder_ / "absent", 11).error().message, HasSubstr("no such file"));
  EXPECT_THAT(read_text_file(folder_ / "folder", 11).error().message, HasSubstr("found a folder"));
  EXPECT_THAT(read_text_file(folder_ / "pipe", 11).error().message, HasSubstr("found a pipe"));
  EXPECT_THAT(read_text_file("/dev/zero", 11).error().message, HasSubstr("found a device"));
  EXPECT_FALSE(check_regular_file(folder_ / "pipe"));
  EXPECT_TRUE(check_regular_file(folder_ / "soft"));
}

}  // namespace
}  // namespace draftscope
