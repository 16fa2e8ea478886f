// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what users may open and where they may export to: folders, files that vanish or grow, places that
// can't be written. Each failure gives one line, and nothing that was open is lost.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDropEvent>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <array>
#include <memory>

#include "views/sql_view.h"
#include "widgets/files.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

QString text_of(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

class Opening : public Window {
 protected:
  /// Opens a recording of two runs to which `writer` can continue to write.
  void open_growing(std::unique_ptr<traces::Writer>& writer) {
    auto made = traces::Writer::create(folder_ / "growing.dstrace", {{"model", "demo"}});
    ASSERT_TRUE(made) << made.error().message;
    writer = *std::move(made);
    traces::write_sample(*writer, {.runs = 2, .requests_per_run = 2, .max_rounds = 20});
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          const auto opened = OpenedRecording::open(folder_ / "growing.dstrace");
          return opened && (*opened)->runs().size() == 2 && !(*opened)->runs()[1].rounds.empty();
        },
        10000));
    ASSERT_EQ(open(folder_ / "growing.dstrace"), QString());
  }

  /// Expects one line that names the file, and that the shown recording stays.
  void expect_refused(const std::filesystem::path& path) {
    const RecordingPointer before = window_.state().recording();
    const QString reason = open(path);
    EXPECT_THAT(reason.toStdString(), HasSubstr(path.filename().string()));
    EXPECT_FALSE(reason.contains(u'\n')) << reason.toStdString();
    EXPECT_TRUE(is_said(path.filename().string().c_str()));
    EXPECT_EQ(window_.state().recording(), before);
  }

  [[nodiscard]] QPushButton* visible_button(const char* words) {
    for (QPushButton* button : window_.findChildren<QPushButton*>())
      if (button->isVisible() && button->text().remove(u'&') == QString::fromUtf8(words)) return button;
    return nullptr;
  }
};

TEST_F(Opening, RefusesFilesThatAreNoRecordingsAndKeepsWhatIsShown) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  traces::write_file(folder_ / "zero.dstrace", "");
  traces::write_file(folder_ / "text.dstrace", "hello");
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "foreign.dstrace");
  traces::change(folder_ / "foreign.dstrace", "PRAGMA application_id = 1");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.dstrace").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop.dstrace", folder_ / "loop.dstrace");
  for (const char* name :
       {"zero.dstrace", "text.dstrace", "foreign.dstrace", "nowhere.dstrace", "pipe.dstrace", "loop.dstrace"})
    expect_refused(folder_ / name);
  expect_refused("/dev/zero");
}

TEST_F(Opening, AFolderOfTheNameOfARecordingIsAFolder) {
  std::filesystem::create_directory(folder_ / "x.dstrace");
  window_.open(text_of(folder_ / "x.dstrace"));
  EXPECT_TRUE(is_said("no recordings"));
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "x.dstrace/inside.dstrace");
  EXPECT_EQ(open(folder_ / "x.dstrace"), QString());
  EXPECT_EQ(window_.state().recording()->name(), "inside.dstrace");
  EXPECT_FALSE(is_said("no recordings"));
}

TEST_F(Opening, AFolderWithoutRecordingsAmongFilesIsSaidAndTheFilesOpen) {
  std::filesystem::create_directory(folder_ / "empty");
  const QString reason = wait_for_loading([&] {
    window_.open(QStringList{text_of(folder_ / "empty"), text_of(folder_ / "sample.dstrace")});
  });
  EXPECT_EQ(reason, QString());
  EXPECT_TRUE(is_said("empty: no recordings"));
  EXPECT_EQ(window_.state().opened().size(), 1U);
  QPushButton* dismiss = visible_button("Dismiss");
  ASSERT_NE(dismiss, nullptr);
  dismiss->click();
  EXPECT_FALSE(is_said("no recordings"));
}

TEST_F(Opening, TheSameFileByOtherPathsIsOpenedOnce) {
  std::filesystem::create_directory(folder_ / "sub");
  const QString path = text_of(folder_ / "sample.dstrace");
  const PathsToOpen found =
      paths_to_open({path, text_of(folder_ / "sub/../sample.dstrace"), text_of(folder_.path()), QString()});
  EXPECT_THAT(found.files, ElementsAre(path));
  EXPECT_TRUE(found.problems.isEmpty());
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ASSERT_EQ(open(folder_ / "sub/../sample.dstrace"), QString());
  EXPECT_EQ(window_.state().opened().size(), 1U);
}

TEST_F(Opening, TakesWhatIsDroppedOnTheWindowWhateverItShows) {
  traces::make_sample_file(folder_ / "other.dstrace", {.seed = 5});
  const auto drop = [&](QWidget& on, const char* name) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(text_of(folder_ / name))});
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &enter);
    EXPECT_TRUE(enter.isAccepted()) << name;
    return wait_for_loading([&] {
      QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
      QApplication::sendEvent(&on, &event);
    });
  };
  EXPECT_EQ(drop(window_, "sample.dstrace"), QString());
  EXPECT_EQ(window_.state().recording()->name(), "sample.dstrace");
  EXPECT_EQ(drop(window_, "other.dstrace"), QString());
  EXPECT_EQ(window_.state().recording()->name(), "other.dstrace");
  EXPECT_FALSE(view_of<SqlView>(window_, QStringLiteral("sql")).findChild<QPlainTextEdit*>()->acceptDrops());
  QMimeData words;
  words.setText(QStringLiteral("no file"));
  QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &words, Qt::LeftButton, Qt::NoModifier);
  enter.setAccepted(false);
  QApplication::sendEvent(&window_, &enter);
  EXPECT_FALSE(enter.isAccepted());
}

TEST_F(Opening, AFileThatIsDeletedWhileItIsOpenStaysOnScreen) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  std::filesystem::remove(folder_ / "sample.dstrace");
  for (const NamedView& named : std::vector(window_.views())) {
    QWidget& view = raise(named.name);
    auto* choice = view.findChild<QComboBox*>();
    if (named.name == u"skip-map" || named.name == u"breakdown") {
      choice->setCurrentIndex(2);
      raise(named.name);
      EXPECT_THAT(view.accessibleDescription().toStdString(), HasSubstr("sample.dstrace"))
          << named.name.toStdString();
    }
  }
  auto& sql = view_of<SqlView>(window_, QStringLiteral("sql"));
  QSignalSpy answered(&sql, &SqlView::finished);
  sql.run();
  ASSERT_TRUE(answered.wait(10000));
  raise(QStringLiteral("sql"));
  EXPECT_TRUE(is_said("sample.dstrace: "));
  const QString reason = wait_for_loading([&] { window_.reload(); });
  EXPECT_THAT(reason.toStdString(), HasSubstr("sample.dstrace"));
  ASSERT_NE(window_.state().recording(), nullptr);
  EXPECT_TRUE(window_.state().recording()->has_rows());
  // Reloading does not create an empty file at this path.
  EXPECT_FALSE(std::filesystem::exists(folder_ / "sample.dstrace"));
}

TEST_F(Opening, ReloadsARecordingThatIsStillBeingWritten) {
  std::unique_ptr<traces::Writer> writer;
  open_growing(writer);
  if (HasFatalFailure()) return;
  EXPECT_TRUE(is_said("still being written"));
  ASSERT_NE(visible_button("Reload"), nullptr);
  ViewState& state = window_.state();
  const std::size_t before = state.recording()->round_count();
  state.set_run(1);
  state.go_to_round(state.run_rounds()->rounds.back());
  const traces::RoundId round_id = state.recording()->round(state.cursor().round_index).id;
  const TimeRange whole = state.recording()->whole();
  state.set_range({whole.start_ns + whole.duration_ns() / 4, whole.end_ns - whole.duration_ns() / 4});
  const TimeRange range = state.range();

  traces::write_sample(*writer, {.seed = 7, .runs = 2, .requests_per_run = 3, .max_rounds = 20});
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(wait_for_loading([&] { visible_button("Reload")->click(); }), QString());
  EXPECT_GT(state.recording()->round_count(), before);
  EXPECT_EQ(state.opened().size(), 1U);
  EXPECT_EQ(state.opened().front(), state.recording());
  EXPECT_FALSE(is_said("still being written"));
  EXPECT_EQ(state.run(), 1U);
  EXPECT_EQ(state.range(), range);
  EXPECT_EQ(state.recording()->round(state.cursor().round_index).id, round_id);
  for (const NamedView& named : std::vector(window_.views())) EXPECT_FALSE(raise(named.name).grab().isNull());
}

TEST_F(Opening, FollowsARecordingThatIsBeingWrittenWhateverPageIsSeen) {
  std::unique_ptr<traces::Writer> writer;
  open_growing(writer);
  if (HasFatalFailure()) return;
  ViewState& state = window_.state();
  const std::size_t before = state.recording()->round_count();
  state.set_run(1);
  auto* follow = window_.findChild<QCheckBox*>(QStringLiteral("follow"));
  ASSERT_NE(follow, nullptr);
  ASSERT_TRUE(follow->isVisible());
  follow->click();
  EXPECT_TRUE(window_.follower().is_following());
  EXPECT_TRUE(is_said("Following"));
  QWidget& record = view_of<QWidget>(window_, QStringLiteral("record"));
  window_.show_record_page();
  traces::write_sample(*writer, {.seed = 7, .runs = 2, .requests_per_run = 3, .max_rounds = 20});
  ASSERT_TRUE(QTest::qWaitFor([&] { return state.recording()->round_count() > before; }, 20000));
  EXPECT_EQ(state.run(), 1U);
  EXPECT_TRUE(record.isVisible());
  ASSERT_TRUE(writer->close());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.follower().is_following(); }, 20000));
  EXPECT_TRUE(state.recording()->recording().closed_cleanly);
  EXPECT_FALSE(follow->isVisible());
  EXPECT_FALSE(is_said("Following"));
}

TEST_F(Opening, AnotherRecordingInTheSamePlaceIsShownFromItsRounds) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  state.set_run(2);
  state.go_to_round(state.run_rounds()->rounds.back());
  std::filesystem::remove(folder_ / "sample.dstrace");
  traces::make_sample_file(folder_ / "sample.dstrace",
                           {.seed = 11, .runs = 1, .requests_per_run = 1, .max_rounds = 2});
  EXPECT_EQ(wait_for_loading([&] { window_.reload(); }), QString());
  EXPECT_EQ(state.run(), 0U);
  EXPECT_FALSE(state.range_history().canUndo());
  const TimeRange whole = state.recording()->whole();
  EXPECT_GE(state.range().start_ns, whole.start_ns);
  EXPECT_LE(state.range().end_ns, whole.end_ns);
  EXPECT_LT(state.cursor().round_index, state.recording()->recording().rounds.size());
}

TEST_F(Opening, SaysWhereViewsCantBeWritten) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  QWidget& rounds = raise(QStringLiteral("rounds"));
  for (const char* name : {"picture.png", "picture.svg", "picture.pdf", "table.csv"}) {
    EXPECT_FALSE(window_.write_view(rounds, text_of(folder_ / "no/such/folder" / name)));
    EXPECT_TRUE(is_said(name));
    std::filesystem::create_directory(folder_ / name);
    EXPECT_FALSE(window_.write_view(rounds, text_of(folder_ / name)));
    std::filesystem::remove(folder_ / name);
    EXPECT_TRUE(window_.write_view(rounds, text_of(folder_ / name)));
    EXPECT_GT(std::filesystem::file_size(folder_ / name), 0U);
  }
  EXPECT_FALSE(window_.write_view(rounds, text_of(folder_ / "picture.bmp")));
  EXPECT_TRUE(is_said("expected .png, .svg or .pdf"));
}

TEST_F(Opening, WritesViewsWithTheEndingOfTheChosenType) {
  EXPECT_EQ(with_ending(QStringLiteral("/a/b"), QStringLiteral("PNG (*.png)")), QStringLiteral("/a/b.png"));
  EXPECT_EQ(with_ending(QStringLiteral("/a/b.svg"), QStringLiteral("PNG (*.png)")),
            QStringLiteral("/a/b.svg"));
  EXPECT_EQ(with_ending(QStringLiteral("/a/b"), QStringLiteral("CSV of its table (*.csv)")),
            QStringLiteral("/a/b.csv"));
  EXPECT_EQ(with_ending({}, QStringLiteral("PNG (*.png)")), QString());
}

}  // namespace
}  // namespace draftscope::gui
