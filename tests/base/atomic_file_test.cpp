// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../temporary_folder.h"
#include "../value_of.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using ::testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  static Result<void> write(const fs::path& target, std::string_view text) {
    DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
    file.write(text);
    return file.commit();
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }

  const test::TemporaryFolder folder_;
};

TEST_F(AtomicFileTest, ReplacesARegularFileOnlyWhenItIsWhole) {
  const fs::path target = folder_ / "report.csv";
  ASSERT_TRUE(write(target, "before"));
  {
    auto file = value_of(AtomicFile::create(target));
    file.write("after");
    EXPECT_EQ(bytes_of(target), "before");
  }
  EXPECT_EQ(bytes_of(target), "before");
  ASSERT_TRUE(write(target, "after"));
  EXPECT_EQ(bytes_of(target), "after");
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

  const Result<void> into_folder = write(folder_.path(), "text");
  ASSERT_FALSE(into_folder);
  EXPECT_THAT(into_folder.error().message, HasSubstr("found a folder"));
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, DoesNotReplaceWhatHasComeToBeMeanwhileWhereThatWasNotAskedFor) {
  const fs::path target = folder_ / "report.csv";
  {
    auto file = value_of(AtomicFile::create(target));
    file.write("mine");
    std::ofstream(target) << "somebody's";
    const Result<void> committed = file.commit(Replacing::refused);
    ASSERT_FALSE(committed);
    EXPECT_THAT(committed.error().message, testing::StartsWith(target.string() + ": exists already"));
  }
  EXPECT_EQ(bytes_of(target), "somebody's");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, RefusesAnEmptyName) {
  const Result<void> refused = write("", "text");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "found an empty name, expected a file's");
}

/// Runs `work` with a file size limit of `bytes`, like a full disk. It runs in a child, because the limit
/// holds for the whole process. The child's exit status is 0 if `work` returned the expected message.
template <typename Work>
int status_with_room_for(rlim_t bytes, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(work() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(AtomicFileTest, KeepsTheOldFileWhereTheDiskIsFull) {
  const fs::path target = folder_ / "report.csv";
  ASSERT_TRUE(write(target, "before"));
  const std::string text(3 << 20U, 'x');
  for (const rlim_t room : {0U, 1U, 4096U, 1U << 20U, (3U << 20U) - 1}) {
    const int status = status_with_room_for(room, [&] {
      const Result<void> written = write(target, text);
      return !written && written.error().message == target.string() + ": can't be written: File too large";
    });
    EXPECT_EQ(status, 0) << room;
    EXPECT_EQ(bytes_of(target), "before");
    EXPECT_EQ(files(), 1);
  }
}

}  // namespace
}  // namespace draftscope::traces
