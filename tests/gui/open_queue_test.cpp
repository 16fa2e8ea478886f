// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the queue of files that wait to be opened: their order, the first file, messages about files that
// can't be opened, and what happens to the others when the user cancels.
#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

#include "sample.h"
#include "window/open_queue.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OpenQueues : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.dstrace", "b.dstrace", "c.dstrace"})
      traces::make_sample_file(folder_ / name, {});
    traces::write_file(folder_ / "broken.dstrace", "no recording");
    QObject::connect(
        &queue_, &OpenQueue::read, &queue_,
        [this](const RecordingPointer& recording, const std::shared_ptr<const Timeline>&, bool is_first) {
          if (!recording->has_rows()) return previews_.push_back(recording->name());
          read_.push_back(recording->name());
          if (is_first) first_.push_back(recording->name());
        });
    QObject::connect(
        &queue_, &OpenQueue::began, &queue_,
        [this](const QString&, qsizetype place, qsizetype all) { begun_.emplace_back(place, all); });
  }

  [[nodiscard]] QString path(const char* name) { return QString::fromStdString((folder_ / name).string()); }
  void wait() { EXPECT_TRUE(ended_.count() > 0 || ended_.wait(20000)); }

  traces::TestFolder folder_;
  OpenQueue queue_;
  QSignalSpy ended_{&queue_, &OpenQueue::ended};
  QSignalSpy failed_{&queue_, &OpenQueue::failed};
  std::vector<std::string> previews_, read_, first_;
  std::vector<std::pair<qsizetype, qsizetype>> begun_;
};

TEST_F(OpenQueues, OpenFilesInTheirOrderAndFoldersInThatOfTheirNames) {
  std::filesystem::create_directory(folder_ / "folder");
  for (const char* name : {"z.dstrace", "y.dstrace"})
    std::filesystem::copy_file(folder_ / "a.dstrace", folder_ / "folder" / name);
  queue_.open({path("b.dstrace"), path("folder"), path("a.dstrace"), path("b.dstrace")});
  wait();
  EXPECT_THAT(read_, ElementsAre("b.dstrace", "y.dstrace", "z.dstrace", "a.dstrace"));
  EXPECT_THAT(begun_, ElementsAre(std::pair(1, 4), std::pair(2, 4), std::pair(3, 4), std::pair(4, 4)));
  EXPECT_THAT(first_, ElementsAre("b.dstrace"));
  EXPECT_THAT(previews_, ElementsAre("b.dstrace")) << "of the one to show, and of no other";
  EXPECT_EQ(ended_.count(), 1);
  EXPECT_TRUE(failed_.isEmpty());
}

TEST_F(OpenQueues, SayWhatCannotBeOpenedAndPassItOver) {
  queue_.open({path("broken.dstrace"), path("a.dstrace"), path("nowhere.dstrace"), path("b.dstrace")});
  wait();
  EXPECT_THAT(read_, ElementsAre("a.dstrace", "b.dstrace"));
  EXPECT_THAT(first_, ElementsAre("a.dstrace"));
  ASSERT_EQ(failed_.count(), 2);
  EXPECT_THAT(failed_[0].front().toString().toStdString(), HasSubstr("broken.dstrace"));
  EXPECT_THAT(failed_[1].front().toString().toStdString(), HasSubstr("nowhere.dstrace"));
}

TEST_F(OpenQueues, SayThatAFolderHoldsNoRecordingsAndBeginNothing) {
  std::filesystem::create_directory(folder_ / "empty");
  queue_.open({path("empty")});
  ASSERT_EQ(failed_.count(), 1);
  EXPECT_THAT(failed_[0].front().toString().toStdString(), HasSubstr("empty: no recordings"));
  EXPECT_TRUE(begun_.empty());
  EXPECT_FALSE(queue_.loader().is_loading());
}

TEST_F(OpenQueues, GiveUpEverythingWhenCancelled) {
  queue_.open({path("a.dstrace"), path("b.dstrace")});
  queue_.cancel();
  EXPECT_EQ(ended_.count(), 1);
  EXPECT_FALSE(queue_.loader().is_loading());
  QTest::qWait(100);
  EXPECT_TRUE(read_.empty());
  EXPECT_EQ(begun_.size(), 1U);
}

TEST_F(OpenQueues, GoOnWithTheNextWhenOneIsSkipped) {
  queue_.open({path("a.dstrace"), path("b.dstrace"), path("c.dstrace")});
  queue_.skip();
  wait();
  EXPECT_THAT(read_, ElementsAre("b.dstrace", "c.dstrace"));
  EXPECT_THAT(first_, ElementsAre("b.dstrace"));
}

TEST_F(OpenQueues, AreReplacedByWhatIsOpenedNext) {
  queue_.open({path("a.dstrace"), path("b.dstrace")});
  queue_.open({path("c.dstrace")});
  ended_.clear();
  wait();
  EXPECT_THAT(read_, ElementsAre("c.dstrace"));
  EXPECT_THAT(begun_, ElementsAre(std::pair(1, 2), std::pair(1, 1)));
}

TEST_F(OpenQueues, ReadAgainWithoutAnOverviewOfWhatHasItsRows) {
  queue_.reload(path("a.dstrace"), false);
  wait();
  EXPECT_TRUE(previews_.empty());
  EXPECT_THAT(read_, ElementsAre("a.dstrace"));
  EXPECT_TRUE(first_.empty()) << "it takes the place of what is shown already";
  ended_.clear();
  queue_.reload(path("a.dstrace"), true);
  wait();
  EXPECT_THAT(previews_, ElementsAre("a.dstrace"));
}

}  // namespace
}  // namespace draftscope::gui
