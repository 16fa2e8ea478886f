// SPDX-License-Identifier: GPL-3.0-or-later
// Tests pictures without a display under any arguments: errors are one line, no file is half-written, and the
// program ends.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <QImage>

#include "sample.h"
#include "small_disk.h"
#include "window/snapshot.h"

namespace draftscope::gui {
namespace {

QString name_of(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

class SnapshotRequests : public testing::Test {
 protected:
  SnapshotRequests() {
    std::filesystem::create_directories(folder_ / "empty");
    std::filesystem::create_directories(folder_ / "out");
    traces::make_sample_file(folder_ / "sample.dstrace",
                             {.runs = 2, .requests_per_run = 2, .max_rounds = 20});
  }

  [[nodiscard]] SnapshotRequest request() const {
    return {.view = QStringLiteral("rounds"),
            .files = {name_of(folder_ / "sample.dstrace")},
            .output = name_of(output_),
            .size = QStringLiteral("400x300")};
  }

  void expect_refused(const SnapshotRequest& request, const char* words) {
    const auto done = render_snapshot(request);
    ASSERT_FALSE(done) << words;
    EXPECT_THAT(done.error().message, testing::HasSubstr(words));
    EXPECT_EQ(done.error().message.find('\n'), std::string::npos) << done.error().message;
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out")) << words;
  }

  traces::TestFolder folder_;
  std::filesystem::path output_ = folder_ / "out/picture.png";
};

TEST_F(SnapshotRequests, HaveTheSizeThatIsAskedForOfAFileOrTheFirstOfAFolder) {
  SnapshotRequest asked = request();
  asked.scale = QStringLiteral("2");
  for (const std::filesystem::path& from : {folder_ / "sample.dstrace", folder_.path()}) {
    asked.files = QStringList{name_of(from)};
    const auto done = render_snapshot(asked);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(QImage(name_of(output_)).size(), QSize(800, 600));
    std::filesystem::remove(output_);
  }
}

TEST_F(SnapshotRequests, RefuseInOneLineWhatIsNoRecording) {
  traces::write_file(folder_ / "text.dstrace", "hello");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.dstrace").c_str(), 0600), 0);
  SnapshotRequest asked = request();
  for (const char* name : {"empty", "text.dstrace", "pipe.dstrace", "nowhere.dstrace"}) {
    asked.files = QStringList{name_of(folder_ / name)};
    expect_refused(asked, name);
  }
  asked.files = QStringList{QString()};
  expect_refused(asked, "FILE");
  asked.files.clear();
  expect_refused(asked, "FILE");
}

TEST_F(SnapshotRequests, RefuseInOneLineWhatIsNoSetting) {
  struct Setting {
    QString SnapshotRequest::*option;
    const char* value;
    const char* words;
  };
  for (const Setting& setting : std::vector<Setting>{
           {&SnapshotRequest::view, "nonsense", "--snapshot"},
           {&SnapshotRequest::view, "rounds:7", "--snapshot"},
           {&SnapshotRequest::view, "skip-map:99", "--snapshot"},
           {&SnapshotRequest::view, "tour:99", "--snapshot"},
           {&SnapshotRequest::output, "", "-o"},
           {&SnapshotRequest::size, "wide", "--size"},
           {&SnapshotRequest::size, "0x0", "--size"},
           {&SnapshotRequest::size, "-400x300", "--size"},
           {&SnapshotRequest::size, "99999x99999", "8192"},
           {&SnapshotRequest::scale, "0", "--scale"},
           {&SnapshotRequest::scale, "1e9", "--scale"},
           {&SnapshotRequest::run, "2", "--run"},
           {&SnapshotRequest::run, "-1", "--run"},
           {&SnapshotRequest::round, "99999999999999999999", "--round"},
           {&SnapshotRequest::round, "first", "--round"},
           {&SnapshotRequest::pin, "99", "--pin"},
           {&SnapshotRequest::filter, "accepted=many", "--filter"},
           {&SnapshotRequest::filter, "(((", "--filter"},
           {&SnapshotRequest::figure, "1", "has no figure"},
       }) {
    SnapshotRequest asked = request();
    asked.*setting.option = QString::fromUtf8(setting.value);
    expect_refused(asked, setting.words);
  }
  SnapshotRequest figure = request();
  figure.view = QStringLiteral("breakdown");
  for (const char* width : {"0", "-3", "nan", "inf", "1e300", "0.1", "wide"}) {
    figure.figure = QString::fromUtf8(width);
    expect_refused(figure, "width in inches");
  }
  figure.figure = QStringLiteral("single");
  for (const char* number : {"0", "-1", "nan", "many"}) {
    figure.font_size = QString::fromUtf8(number);
    expect_refused(figure, "font-size");
  }
  figure.font_size = QStringLiteral("1e300");
  expect_refused(figure, "letters in points");
}

TEST_F(SnapshotRequests, OfARecordingWithoutRoundsSayThatThereIsNoneToShow) {
  traces::change(folder_ / "sample.dstrace",
                 "DELETE FROM draft_tokens; DELETE FROM decisions; DELETE FROM kernels; DELETE FROM spans; "
                 "DELETE FROM rounds");
  SnapshotRequest asked = request();
  EXPECT_TRUE(render_snapshot(asked));
  std::filesystem::remove(output_);
  asked.round = QStringLiteral("0");
  expect_refused(asked, "--round: found \"0\", expected none");
}

TEST_F(SnapshotRequests, TakeAFilterOfNoTerms) {
  SnapshotRequest asked = request();
  asked.filter = QStringLiteral("  ");
  EXPECT_TRUE(render_snapshot(asked));
}

TEST_F(SnapshotRequests, AreWrittenWholeOrNotAtAll) {
  SnapshotRequest asked = request();
  {
    const SmallDisk small;
    expect_refused(asked, "picture.png");
  }
  asked.output = name_of(folder_ / "out/picture.nonsense");
  expect_refused(asked, "expected .png");
  asked.output = name_of(folder_ / "no/such/folder.png");
  expect_refused(asked, "no/such/folder.png");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.png").c_str(), 0600), 0);
  asked.output = name_of(folder_ / "pipe.png");
  expect_refused(asked, "pipe.png");
}

}  // namespace
}  // namespace draftscope::gui
