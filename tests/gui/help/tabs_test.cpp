// SPDX-License-Identifier: GPL-3.0-or-later
// Tests several recordings open at once, each with a tab, and restoring the recordings of the last session.
#include <gmock/gmock.h>

#include <QAction>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>

#include "../window_fixture.h"
#include "help/command_palette.h"
#include "widgets/files.h"
#include "window/recording_tabs.h"

namespace draftscope::gui {
namespace {

class Tabs : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    for (const char* name : {"a.dstrace", "b.dstrace", "c.dstrace"})
      std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / name);
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  }

  [[nodiscard]] std::vector<std::string> titles() const {
    std::vector<std::string> all;
    for (int tab = 0; tab < tabs_.count(); ++tab) all.push_back(tabs_.tabText(tab).toStdString());
    return all;
  }
  [[nodiscard]] std::string shown() {
    return window_.state().recording() ? window_.state().recording()->name() : std::string();
  }

  RecordingTabs& tabs_ = *window_.findChild<RecordingTabs*>();
};

TEST_F(Tabs, OpeningASecondRecordingKeepsTheFirst) {
  ASSERT_EQ(open(folder_ / "a.dstrace"), QString());
  EXPECT_FALSE(tabs_.isVisible()) << "one needs no tab";
  ASSERT_EQ(open(folder_ / "b.dstrace"), QString());
  EXPECT_TRUE(tabs_.isVisible());
  EXPECT_THAT(titles(), testing::ElementsAre("a.dstrace", "b.dstrace"));
  EXPECT_EQ(shown(), "b.dstrace");
  QTest::mouseClick(&tabs_, Qt::LeftButton, Qt::NoModifier, tabs_.tabRect(0).center());
  EXPECT_EQ(shown(), "a.dstrace");
  EXPECT_EQ(window_.state().opened().size(), 2U);
  ASSERT_EQ(open(folder_ / "a.dstrace"), QString());
  EXPECT_EQ(tabs_.count(), 2) << "open already";
}

TEST_F(Tabs, AreGoneThroughByKeyAndClosedWithTheMiddleButton) {
  for (const char* name : {"a.dstrace", "b.dstrace", "c.dstrace"}) ASSERT_EQ(open(folder_ / name), QString());
  std::vector<std::string> seen;
  for (int step = 0; step < 3; ++step) {
    QTest::keyClick(&window_, Qt::Key_Tab, Qt::ControlModifier);
    seen.push_back(shown());
    EXPECT_EQ(tabs_.tabText(tabs_.currentIndex()).toStdString(), shown());
  }
  EXPECT_THAT(seen, testing::ElementsAre("a.dstrace", "b.dstrace", "c.dstrace"));
  QTest::mouseClick(&tabs_, Qt::MiddleButton, Qt::NoModifier, tabs_.tabRect(0).center());
  EXPECT_THAT(titles(), testing::ElementsAre("b.dstrace", "c.dstrace"));
  EXPECT_EQ(shown(), "c.dstrace");
  emit tabs_.tabCloseRequested(1);
  EXPECT_EQ(shown(), "b.dstrace");
  EXPECT_FALSE(tabs_.isVisible());
}

TEST_F(Tabs, LeadBackToWhatWasSeen) {
  ASSERT_EQ(open(folder_ / "a.dstrace"), QString());
  ViewState& state = window_.state();
  state.set_run(2);
  const std::uint32_t round = state.run_rounds()->rounds[5];
  state.go_to_round(round);
  state.set_range({state.recording()->round(round).start_ns, state.recording()->round(round).end_ns});
  const TimeRange range = state.range();
  const Cursor cursor = state.cursor();
  ASSERT_EQ(open(folder_ / "b.dstrace"), QString());
  EXPECT_NE(state.range(), range);
  tabs_.setCurrentIndex(0);
  EXPECT_EQ(shown(), "a.dstrace");
  EXPECT_EQ(state.run(), 2U);
  EXPECT_EQ(state.range(), range);
  EXPECT_EQ(state.cursor(), cursor);
}

TEST_F(Tabs, SayWhichOfTwoFilesWithOneNameTheyAre) {
  std::filesystem::create_directory(folder_ / "other");
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "other" / "a.dstrace");
  ASSERT_EQ(open(folder_ / "a.dstrace"), QString());
  ASSERT_EQ(open(folder_ / "other" / "a.dstrace"), QString());
  EXPECT_THAT(titles(), testing::ElementsAre((folder_ / "a.dstrace").string(),
                                             (folder_ / "other" / "a.dstrace").string()));
}

/// A window that remembers its state in settings of the test.
class Remembering : public Tabs {
 protected:
  void SetUp() override {
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                       QString::fromStdString(folder_.path().string()));
    QSettings().clear();
    Tabs::SetUp();
  }
  void TearDown() override { QSettings().clear(); }

  static void open_in(MainWindow& window, const std::filesystem::path& path) {
    QSignalSpy finished(&window.loader(), &RecordingLoader::finished);
    window.open(QString::fromStdString(path.string()));
    ASSERT_TRUE(finished.wait(20000));
  }
  static std::vector<std::string> recent_of(const MainWindow& window) {
    std::vector<std::string> words;
    for (const MenuEntry& entry : menu_entries(*window.menuBar()))
      if (entry.path.endsWith(QStringLiteral("Recent"))) words.push_back(entry.words.toStdString());
    return words;
  }
};

TEST_F(Remembering, TheMenuFileHasWhatWasOpenedLast) {
  {
    MainWindow first(Memory::kept);
    open_in(first, folder_ / "a.dstrace");
    open_in(first, folder_ / "b.dstrace");
    open_in(first, folder_ / "a.dstrace");
  }
  MainWindow second(Memory::kept);
  EXPECT_THAT(recent_of(second), testing::ElementsAre("1  a.dstrace", "2  b.dstrace", "Clear the list"));
  bool is_listed = false;
  for (const auto* list : second.findChildren<QListWidget*>())
    for (int row = 0; row < list->count(); ++row)
      is_listed = is_listed || list->item(row)->toolTip().endsWith(QStringLiteral("b.dstrace"));
  EXPECT_TRUE(is_listed) << "on the start page, too";
  for (const MenuEntry& entry : menu_entries(*second.menuBar()))
    if (entry.words == QStringLiteral("Clear the list")) entry.action->trigger();
  QApplication::processEvents();
  EXPECT_THAT(recent_of(second), testing::ElementsAre("Clear the list"));
  EXPECT_THAT(recent_files(), testing::IsEmpty());
}

}  // namespace
}  // namespace draftscope::gui
