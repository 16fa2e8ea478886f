// SPDX-License-Identifier: GPL-3.0-or-later
// A file that others cut, replace or overwrite while it is read.
#include <draftscope/traces/reader.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "../value_of.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

/// Reads one table after another; `change` changes the file after the first. Returns the error of the first
/// table that fails, or none; then the rows are those of the file that was opened.
std::optional<std::string> read_while_changing(const fs::path& path, std::size_t rounds, std::size_t spans,
                                               const std::function<void()>& change) {
  auto reader = Reader::open(path);
  if (!reader) return "not opened";
  EXPECT_TRUE(reader->strings());
  change();
  const auto recording = reader->recording();
  if (!recording) return recording.error().message;
  EXPECT_EQ(recording->rounds.size(), rounds);
  std::size_t found = 0;
  const auto count = [&found](const Span& /*span*/) {
    ++found;
    return true;
  };
  if (const auto read = reader->spans(count); !read) return read.error().message;
  if (const auto read = reader->spans({}, count); !read) return read.error().message;
  EXPECT_EQ(found, 2 * spans);
  const auto violations = reader->validate();
  if (!violations) return violations.error().message;
  EXPECT_TRUE(violations->empty());
  return std::nullopt;
}

class ChangedFile : public testing::TestWithParam<bool> {
 protected:
  ChangedFile() : sample_(make_sample_file(path_, {.max_rounds = 30})) {
    make_sample_file(folder_ / "other", {.seed = 9, .max_rounds = 30});
    if (!GetParam()) return;
    // An empty log exists, as if a crash had cut the recording off.
    write_file(path_.string() + "-wal", "");
  }
  std::optional<std::string> read_while(const std::function<void()>& change) const {
    return read_while_changing(path_, sample_.recording.rounds.size(), sample_.spans.size(), change);
  }
  void expect_refused(const std::function<void()>& change) const {
    const auto error = value_of(read_while(change));
    EXPECT_EQ(error.rfind(path_.string() + ": ", 0), 0U) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  TestFolder folder_;
  fs::path path_ = folder_ / "x.dstrace";
  Sample sample_;
};

TEST_P(ChangedFile, EndsInAnErrorIfItIsCutShort) {
  const auto bytes = fs::file_size(path_);
  for (const auto rest : {bytes / 2, bytes / 2 - 4000, std::uintmax_t{0}}) {
    const std::string whole = read_file(folder_ / "other");
    make_sample_file(folder_ / "again", {.max_rounds = 30});
    fs::rename(folder_ / "again", path_);
    expect_refused([&] { fs::resize_file(path_, rest); });
  }
}

TEST_P(ChangedFile, StaysAsItWasIfAnotherTakesItsPlaceOrItGoes) {
  EXPECT_EQ(read_while([&] { fs::rename(folder_ / "other", path_); }), std::nullopt);
  make_sample_file(folder_ / "again", {.max_rounds = 30});
  fs::rename(folder_ / "again", path_);
  EXPECT_EQ(read_while([&] { fs::remove(path_); }), std::nullopt);
}

TEST_P(ChangedFile, EndsInAnErrorIfOthersWriteIntoIt) {
  if (GetParam()) GTEST_SKIP() << "one with a log may change; what it holds is under SQLite's locks";
  const std::string other = read_file(folder_ / "other");
  expect_refused([&] { write_file(path_, other); });
}

TEST_P(ChangedFile, EndsInAnErrorIfGarbageIsWrittenOverIt) {
  const std::string garbage(fs::file_size(path_), '\x5a');
  expect_refused([&] { write_file(path_, garbage); });
}

INSTANTIATE_TEST_SUITE_P(log, ChangedFile, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "with" : "without"; });

TEST(FileThatIsEmpty, KeepsTheLogBesideIt) {
  const TestFolder folder;
  write_file(folder / "x", "");
  write_file(folder / "x-wal", "somebody's");
  EXPECT_FALSE(Reader::open(folder / "x"));
  EXPECT_EQ(read_file(folder / "x-wal"), "somebody's");
}

}  // namespace
}  // namespace draftscope::traces
