// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static Result<void> write(const fs::path& target, std::string_view text) {
    DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
    file.write(text);
    return file.commit();
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / (std::string("draftscope_atomic_file_") +
                                      testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(AtomicFileTest, ReplacesARegularFileOnlyWhenItIsWhole) {
  const fs::path target = folder_ / "report.csv";
  ASSERT_TRUE(write(target, "before"));
  {
    auto file = AtomicFile::create(target);
    ASSERT_TRUE(file);
    file->write("after");
    EXPECT_EQ(text_of(target), "before");
  }
  EXPECT_EQ(text_of(target), "before");
  ASSERT_TRUE(write(target, "after"));
  EXPECT_EQ(text_of(target), "after");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, ReplacesNothingThatIsNoRegularFile) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Result<void> into_pipe = write(pipe, "text");
  ASSERT_FALSE(into_pipe);
  EXPECT_THAT(into_pipe.error().message,
              HasSubstr("pipe: found a device or a pipe, expected a new or a regular file"));
  EXPECT_TRUE(fs::is_fifo(pipe));

  const Result<void> into_folder = write(folder_, "text");
  ASSERT_FALSE(into_folder);
  EXPECT_THAT(into_folder.error().message, HasSubstr("found a folder"));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace draftscope::traces
