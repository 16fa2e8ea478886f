// SPDX-License-Identifier: GPL-3.0-or-later
// Tests marks and lanes of queries on the timeline of the real window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QInputDialog>
#include <QMenuBar>
#include <QPushButton>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>

#include "help/command_palette.h"
#include "timeline/timeline_view.h"
#include "views/sql_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

class TimelineExtras : public Window {
 protected:
  void open_sample() {
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    settle();
  }
  TimelineView& timeline() { return view_of<TimelineView>(window_, QStringLiteral("timeline")); }
  MarksLayer& marks() { return timeline().marks(); }
  std::vector<Mark> written() { return read_marks(marks_file(folder_ / "sample.dstrace")).value(); }
  /// A time of the recording, as a share of it.
  [[nodiscard]] TimeRange part(double from, double to) {
    const TimeRange whole = window_.state().recording()->whole();
    const auto at = [&](double share) {
      return whole.start_ns + static_cast<std::int64_t>(share * static_cast<double>(whole.duration_ns()));
    };
    return {at(from), at(to)};
  }
  void trigger(const QString& words) {
    for (const MenuEntry& entry : menu_entries(*window_.menuBar()))
      if (entry.words == words) return entry.action->trigger();
    FAIL() << words.toStdString();
  }
  /// Types into the dialogue that opens next.
  void answer(const QString& text) {
    QTimer::singleShot(0, &window_, [this, text] {
      auto* dialogue = window_.findChild<QInputDialog*>();
      ASSERT_NE(dialogue, nullptr);
      dialogue->setTextValue(text);
      dialogue->accept();
    });
  }
};

TEST_F(TimelineExtras, MarksAreKeptBesideTheRecordingAndTakenBack) {
  open_sample();
  marks().add({part(0.5, 0.5), "here <b>"});
  marks().add({part(0.1, 0.2), "there"});
  ASSERT_EQ(marks().marks().size(), 2U);
  EXPECT_EQ(marks().marks()[0].text, "there");
  EXPECT_EQ(written(), marks().marks());
  // Delete, and each step back.
  marks().choose(1);
  QTest::keyClick(&timeline(), Qt::Key_Delete);
  EXPECT_EQ(written().size(), 1U);
  window_.state().range_history().undo();
  EXPECT_EQ(written().size(), 2U);
  window_.state().range_history().undo();
  window_.state().range_history().undo();
  EXPECT_FALSE(std::filesystem::exists(marks_file(folder_ / "sample.dstrace")));
  window_.state().range_history().redo();
  // Another window reads what this one has written.
  MainWindow other(Memory::none);
  QSignalSpy finished(&other.loader(), &RecordingLoader::finished);
  other.open(QString::fromStdString((folder_ / "sample.dstrace").string()));
  ASSERT_TRUE(finished.count() > 0 || finished.wait(20000));
  auto& again = view_of<TimelineView>(other, QStringLiteral("timeline"));
  EXPECT_TRUE(QTest::qWaitFor([&] { return again.marks().marks().size() == 1; }, 10000));
  EXPECT_EQ(again.marks().marks(), marks().marks());
}

TEST_F(TimelineExtras, MMarksWhatIsSelectedAndChangesWhatIsChosen) {
  open_sample();
  raise(QStringLiteral("timeline"));
  window_.state().set_selection(part(0.25, 0.5));
  answer(QStringLiteral("  slow\nhere "));
  QTest::keyClick(&timeline(), Qt::Key_M);
  ASSERT_EQ(marks().marks().size(), 1U);
  EXPECT_EQ(marks().marks()[0], (Mark{part(0.25, 0.5), "slow here"}));
  trigger(QStringLiteral("Next mark"));
  ASSERT_EQ(marks().chosen(), 0U);
  answer(QStringLiteral("fast"));
  QTest::keyClick(&timeline(), Qt::Key_M);
  EXPECT_EQ(written().at(0).text, "fast");
  answer(QString());
  QTest::keyClick(&timeline(), Qt::Key_M);
  EXPECT_TRUE(marks().marks().empty());
}

TEST_F(TimelineExtras, AFlagIsDrawnAndFoundUnderThePointerAndShownFromAfar) {
  open_sample();
  raise(QStringLiteral("timeline"));
  const QImage before = timeline().viewport()->grab().toImage();
  marks().add({part(0.5, 0.5), "middle"});
  EXPECT_NE(timeline().viewport()->grab().toImage(), before);
  const int left = timeline().header_width();
  const QPoint flag(left + (timeline().viewport()->width() - left) / 2 + 3, 6);
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, flag);
  EXPECT_EQ(marks().chosen(), 0U);
  QTest::keyClick(&timeline(), Qt::Key_Escape);
  EXPECT_FALSE(marks().chosen());
  window_.state().set_range(part(0.0, 0.01));
  trigger(QStringLiteral("Previous mark"));
  EXPECT_LE(window_.state().range().start_ns, part(0.5, 0.5).start_ns);
  EXPECT_GE(window_.state().range().end_ns, part(0.5, 0.5).end_ns);
}

TEST_F(TimelineExtras, SayWhereMarksCannotBeKeptAndLeaveWhatTheyCannotRead) {
  const auto file = marks_file(folder_ / "sample.dstrace");
  traces::write_file(file, "not marks");
  QSignalSpy said(&marks(), &MarksLayer::said);
  open_sample();
  ASSERT_TRUE(QTest::qWaitFor([&] { return said.count() > 0; }, 10000));
  EXPECT_THAT(said.takeFirst().at(0).toString().toStdString(), HasSubstr("expected"));
  marks().add({part(0.5, 0.5), "a"});
  EXPECT_EQ(said.count(), 1);
  EXPECT_TRUE(marks().marks().empty());
  std::filesystem::remove(file);
}

TEST_F(TimelineExtras, AQuerysIntervalsAreALaneUntilItIsRemoved) {
  open_sample();
  raise(QStringLiteral("sql"));
  settle();
  auto& sql = view_of<SqlView>(window_, QStringLiteral("sql"));
  auto* show = &named_widget<QPushButton>(sql, "Show as lane");
  const auto run = [&](const char* statement) {
    QSignalSpy finished(&sql, &SqlView::finished);
    sql.set_sql(QString::fromUtf8(statement));
    sql.run();
    ASSERT_TRUE(finished.count() > 0 || finished.wait(10000));
  };
  run("SELECT id, start_ns FROM requests");
  EXPECT_FALSE(show->isEnabled());
  run("SELECT id AS name, start_ns, end_ns FROM requests");
  ASSERT_TRUE(show->isEnabled());
  show->click();
  settle();
  QueryLanes& lanes = timeline().query_lanes();
  ASSERT_EQ(lanes.count(), 1U);
  EXPECT_TRUE(lanes.isVisible());
  EXPECT_EQ(lanes.height(), lanes.wanted_height());
  // The first request's box is where the request is.
  const traces::Request& request = window_.state().recording()->recording().requests.front();
  window_.state().set_range({request.start_ns, request.end_ns});
  const int middle = (timeline().header_width() + timeline().viewport()->width()) / 2;
  QTest::mouseClick(&lanes, Qt::LeftButton, {}, QPoint(middle, lanes.height() / 2));
  ASSERT_TRUE(window_.state().selection());
  EXPECT_TRUE(lanes.interval_at(QPoint(middle, lanes.height() / 2)));
  lanes.findChild<QToolButton*>()->click();
  EXPECT_EQ(lanes.count(), 0U);
  EXPECT_FALSE(lanes.isVisible());
}

TEST_F(TimelineExtras, TheNextRejectionIsOneKeyAway) {
  open_sample();
  std::size_t drafting = 0;
  for (std::size_t run = 0; run < window_.state().recording()->runs().size(); ++run)
    if (!window_.state().recording()->runs()[run].run->is_baseline) drafting = run;
  window_.state().set_run(drafting);
  trigger(QStringLiteral("Next rejection"));
  EXPECT_THAT(window_.statusBar()->currentMessage().toStdString(),
              testing::ContainsRegex("^rejection [0-9]+ of [0-9]+: round #"));
}

}  // namespace
}  // namespace draftscope::gui
