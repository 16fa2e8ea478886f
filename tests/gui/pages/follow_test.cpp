// SPDX-License-Identifier: GPL-3.0-or-later
// Tests following a recording that is being written, and what may happen to its file meanwhile.
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>
#include <fstream>

#include "sample.h"
#include "state/recording_follower.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

constexpr int patience_ms = 30000;

class Following : public testing::Test {
 protected:
  Following() {
    writer_ = *traces::Writer::create(path_, {{"model", "demo"}});
    write(1);
    QObject::connect(
        &follower_, &RecordingFollower::read, &follower_,
        [this](const RecordingPointer& recording) { rounds_.push_back(recording->round_count()); });
  }

  void write(std::uint32_t seed) {
    traces::write_sample(*writer_, {.seed = seed, .runs = 2, .requests_per_run = 3, .max_rounds = 20});
  }

  void follow_until_read() {
    follower_.follow(path_);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !rounds_.empty() && rounds_.back() > 0; }, patience_ms));
  }

  /// Waits until following ends, and returns its last line.
  std::string last_words() {
    EXPECT_TRUE(!ended_.isEmpty() || ended_.wait(patience_ms));
    EXPECT_EQ(ended_.count(), 1);
    EXPECT_FALSE(follower_.is_following());
    const std::string words = ended_.isEmpty() ? "" : ended_.front().front().toString().toStdString();
    EXPECT_EQ(words.find('\n'), std::string::npos);
    return words;
  }

  traces::TestFolder folder_;
  std::filesystem::path path_ = folder_ / "growing.dstrace";
  std::unique_ptr<traces::Writer> writer_;
  std::vector<std::size_t> rounds_;  ///< number of rounds, per reading
  RecordingFollower follower_;
  QSignalSpy ended_{&follower_, &RecordingFollower::ended};
};

TEST_F(Following, ReadsWhatComesAndEndsWithTheRecording) {
  follow_until_read();
  const std::size_t before = rounds_.back();
  write(2);
  ASSERT_TRUE(QTest::qWaitFor([&] { return rounds_.back() > before; }, patience_ms));
  ASSERT_TRUE(writer_->close());
  EXPECT_EQ(last_words(), "");
  EXPECT_TRUE(std::is_sorted(rounds_.begin(), rounds_.end()));
}

TEST_F(Following, AFileThatDoesNotChangeIsReadOnce) {
  follow_until_read();
  // Wait for what the writer's thread still had to commit.
  QTest::qWait(1500);
  const std::size_t readings = rounds_.size();
  QTest::qWait(1500);
  EXPECT_EQ(rounds_.size(), readings);
  EXPECT_TRUE(follower_.is_following());
  follower_.stop();
}

TEST_F(Following, ADeletedFileIsSaid) {
  follow_until_read();
  std::filesystem::remove(path_);
  EXPECT_THAT(last_words(), HasSubstr("deleted"));
}

TEST_F(Following, AReplacedFileIsSaid) {
  follow_until_read();
  traces::make_sample_file(folder_ / "other.dstrace");
  std::filesystem::rename(folder_ / "other.dstrace", path_);
  EXPECT_THAT(last_words(), HasSubstr("replaced"));
}

TEST_F(Following, AFileThatIsCutIsSaid) {
  follow_until_read();
  ASSERT_TRUE(writer_->close());
  writer_.reset();
  // The follower sees either the end of the recording before the cut, or the cut.
  std::filesystem::resize_file(path_, 5000);
  (void)last_words();
}

TEST_F(Following, WhatIsNoRecordingAnyMoreIsSaidAfterAFewTries) {
  follow_until_read();
  // Overwrite the same file with other bytes, keeping its length.
  const std::string before = traces::read_file(path_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(before.size(), 'x');
  }
  EXPECT_THAT(last_words(), HasSubstr("growing.dstrace"));
}

TEST_F(Following, StoppingMeansSilence) {
  follower_.follow(path_);
  follower_.stop();
  QTest::qWait(300);
  EXPECT_TRUE(rounds_.empty());
  EXPECT_EQ(ended_.count(), 0);
}

}  // namespace
}  // namespace draftscope::gui
