// SPDX-License-Identifier: GPL-3.0-or-later
// Tests closing recordings in the real window: what is shown next, and that nothing keeps them alive.
#include <gmock/gmock.h>

#include <QAction>
#include <QComboBox>
#include <QMenu>
#include <QMenuBar>

#include "views/compare_view.h"
#include "views/replay/replay_view.h"
#include "views/sql_view.h"
#include "what_if/what_if_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;

class Closing : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    for (const char* name : {"a.dstrace", "b.dstrace", "c.dstrace"})
      std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / name);
    std::filesystem::remove(folder_ / "sample.dstrace");
  }

  void open_all() {
    window_.open(QString::fromStdString(folder_.path().string()));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return window_.state().opened().size() == 3 && !window_.loader().is_loading(); }, 20000));
  }

  void show(const char* name) {
    for (const RecordingPointer& recording : std::vector(window_.state().opened()))
      if (recording->name() == name) window_.state().show(recording);
    ASSERT_EQ(shown(), name);
  }

  [[nodiscard]] std::string shown() {
    return window_.state().recording() ? window_.state().recording()->name() : "";
  }
  [[nodiscard]] std::vector<std::string> opened() {
    std::vector<std::string> names;
    for (const RecordingPointer& recording : window_.state().opened()) names.push_back(recording->name());
    return names;
  }

  /// Looks at each view in each of its modes.
  void look_at_everything() {
    for (const NamedView& named : window_.views()) {
      QWidget& view = raise(named.name);
      if (named.name != u"skip-map" && named.name != u"breakdown") continue;
      auto* choice = view.findChild<QComboBox*>();
      for (int i = 0; i < choice->count(); ++i) {
        choice->setCurrentIndex(i);
        raise(named.name);
      }
    }
    auto& what_if = view_of<WhatIfView>(window_, QStringLiteral("what-if"));
    what_if.start();
    EXPECT_TRUE(QTest::qWaitFor([&] { return what_if.is_settled(); }, 60000));
  }

  QAction* action(const QString& words) {
    for (QAction* found : window_.findChildren<QAction*>())
      if (found->text().remove(u'&') == words) return found;
    return nullptr;
  }
};

TEST_F(Closing, BringsUpTheNextRecordingAndThenTheOneBefore) {
  open_all();
  show("b.dstrace");
  window_.close_recording();
  EXPECT_EQ(shown(), "c.dstrace");
  EXPECT_THAT(opened(), ElementsAre("a.dstrace", "c.dstrace"));
  window_.close_recording();
  EXPECT_EQ(shown(), "a.dstrace");
  EXPECT_TRUE(window_.windowTitle().contains(QStringLiteral("a.dstrace")));
}

TEST_F(Closing, TheLastOneLeadsBackToTheStartPage) {
  open_all();
  window_.close_other_recordings();
  EXPECT_THAT(opened(), ElementsAre("a.dstrace"));
  EXPECT_FALSE(action(QStringLiteral("Close others"))->isEnabled());
  EXPECT_TRUE(action(QStringLiteral("Close"))->isEnabled());
  window_.close_recording();
  EXPECT_EQ(window_.state().recording(), nullptr);
  EXPECT_EQ(window_.windowTitle(), QStringLiteral("Draftscope"));
  EXPECT_TRUE(is_said("Records, explains"));
  for (const NamedView& named : window_.views())
    EXPECT_FALSE(named.view->isVisible()) << named.name.toStdString();
  for (const char* words : {"Close", "Close others", "Close all", "Reload", "Show all", "To round…"})
    EXPECT_FALSE(action(QString::fromUtf8(words))->isEnabled()) << words;
  // Closing without a recording changes nothing.
  window_.close_recording();
  window_.close_all_recordings();
  EXPECT_EQ(open(folder_ / "b.dstrace"), QString());
  EXPECT_EQ(shown(), "b.dstrace");
  EXPECT_TRUE(raise(QStringLiteral("summary")).isVisible());
}

TEST_F(Closing, GivesBackTheRecordingAndItsTimelineWhateverHasBeenLookedAt) {
  open_all();
  look_at_everything();
  auto& compare = view_of<CompareView>(window_, QStringLiteral("compare"));
  std::vector<ComparedRun> runs;
  for (const RecordingPointer& recording : window_.state().opened()) runs.push_back({recording, 1});
  QSignalSpy compared(&compare, &CompareView::compared);
  compare.set_runs(runs, 0);
  ASSERT_TRUE(compared.wait(10000));
  runs.clear();
  const std::weak_ptr<const OpenedRecording> recording = window_.state().recording();
  const std::weak_ptr<const Timeline> timeline = window_.state().timeline();
  ASSERT_EQ(shown(), "a.dstrace");
  window_.close_recording();
  EXPECT_TRUE(QTest::qWaitFor([&] { return recording.expired() && timeline.expired(); }, 10000))
      << recording.use_count() << " " << timeline.use_count();
  EXPECT_EQ(compare.runs().size(), 2U);
  for (const ComparedRun& run : compare.runs()) EXPECT_NE(run.recording->name(), "a.dstrace");
  look_at_everything();
  EXPECT_EQ(compare.model().rowCount(), 2);

  std::vector<std::weak_ptr<const OpenedRecording>> others;
  for (const RecordingPointer& open : window_.state().opened()) others.push_back(open);
  window_.close_all_recordings();
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return std::ranges::all_of(others, [](const auto& other) { return other.expired(); }); }, 10000));
  EXPECT_EQ(compare.model().rowCount(), 0);
  for (const NamedView& named : window_.views()) EXPECT_FALSE(named.view->grab().isNull());
}

TEST_F(Closing, GivesBackWhatWhatIfsWereTrainedOn) {
  const std::filesystem::path sample =
      std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace";
  std::filesystem::copy_file(sample, folder_ / "trained.dstrace");
  ASSERT_EQ(open(folder_ / "trained.dstrace"), QString());
  auto& what_if = view_of<WhatIfView>(window_, QStringLiteral("what-if"));
  what_if.start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return what_if.is_settled(); }, 120000));
  ASSERT_NE(what_if.worker().trained(), nullptr);
  const std::weak_ptr<const OpenedRecording> recording = window_.state().recording();
  const std::weak_ptr<const TrainedRecording> trained = what_if.worker().trained();
  window_.close_recording();
  EXPECT_TRUE(QTest::qWaitFor([&] { return recording.expired() && trained.expired(); }, 20000));
}

TEST_F(Closing, StopsWorkersThatAreAtIt) {
  open_all();
  const std::weak_ptr<const OpenedRecording> recording = window_.state().recording();
  for (const char* name : {"breakdown", "skip-map", "replay", "sql", "compare", "what-if"}) {
    QWidget& view = view_of<QWidget>(window_, QString::fromUtf8(name));
    window_.show_view(view);
    if (auto* choice = view.findChild<QComboBox*>(); choice != nullptr && choice->count() == 3)
      choice->setCurrentIndex(2);
    // Paint the view once, so that it begins to read, without waiting for the end.
    (void)view.grab();
    QApplication::processEvents();
  }
  window_.close_all_recordings();
  EXPECT_EQ(window_.state().recording(), nullptr);
  EXPECT_TRUE(QTest::qWaitFor([&] { return recording.expired(); }, 20000)) << recording.use_count();
}

TEST_F(Closing, WhileItsRoundsAreStillReadGoesOnWithWhatWaits) {
  bool has_closed = false;
  QObject::connect(&window_.state(), &ViewState::recording_changed, &window_, [&] {
    const RecordingPointer& recording = window_.state().recording();
    if (has_closed || !recording || recording->has_rows()) return;
    has_closed = true;
    QMetaObject::invokeMethod(
        &window_, [&] { window_.close_recording(); }, Qt::QueuedConnection);
  });
  window_.open(QString::fromStdString(folder_.path().string()));
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return has_closed && !window_.loader().is_loading() && window_.state().opened().size() >= 2; },
      20000));
  // A small file may have been read before it was closed.
  EXPECT_THAT(opened(), ElementsAre("b.dstrace", "c.dstrace"));
  EXPECT_NE(shown(), "a.dstrace");
  EXPECT_NE(shown(), "");
}

TEST_F(Closing, KeepsThePageAndWhetherItHasATimeline) {
  open_all();
  raise(QStringLiteral("sql"));
  window_.pages().open_timeline(true);
  window_.close_all_recordings();
  ASSERT_EQ(open(folder_ / "a.dstrace"), QString());
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("sql")).isVisible());
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("timeline")).isVisible());
  raise(QStringLiteral("summary"));
  EXPECT_FALSE(view_of<QWidget>(window_, QStringLiteral("timeline")).isVisible()) << "each page has its own";
}

TEST_F(Closing, TheStartPageIsLeftForAnOpenRecordingByItsMenu) {
  open_all();
  action(QStringLiteral("Start page"))->trigger();
  EXPECT_TRUE(is_said("Records, explains"));
  action(QStringLiteral("a.dstrace"))->trigger();
  QApplication::processEvents();
  EXPECT_FALSE(is_said("Records, explains"));
  EXPECT_EQ(shown(), "a.dstrace");
  EXPECT_TRUE(raise(QStringLiteral("rounds")).isVisible());
}

TEST_F(Closing, ByKeyboard) {
  open_all();
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  QTest::keyClick(&window_, Qt::Key_W, Qt::ControlModifier);
  EXPECT_THAT(opened(), ElementsAre("b.dstrace", "c.dstrace"));
  QTest::keyClick(&window_, Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_THAT(opened(), ElementsAre());
}

}  // namespace
}  // namespace draftscope::gui
