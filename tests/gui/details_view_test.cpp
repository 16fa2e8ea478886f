// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the details beside the timeline in the real window.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QHeaderView>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>

#include "details/details_view.h"
#include "details/flame_graph.h"
#include "details/timeline_panel.h"
#include "timeline/timeline_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class DetailsDrawer : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    raise(QStringLiteral("timeline"));
  }

  [[nodiscard]] ViewState& state() { return window_.state(); }

  /// A slice in the host's lane of this depth; 0 is the uppermost lane.
  [[nodiscard]] SlicePlace host_slice(std::int32_t depth = 0) {
    const auto& lanes = state().timeline()->lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].track_kind == "host" && lanes[lane].depth == depth) {
        for (std::size_t slice = 0; slice < lanes[lane].slices.size(); ++slice)
          if (lanes[lane].slices.round_index(slice) != no_index) return {lane, slice};
      }
    throw std::runtime_error("no such lane");
  }

  [[nodiscard]] SlicePlace round_slice() {
    const auto& lanes = state().timeline()->lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].kind == LaneKind::rounds)
        for (std::size_t slice = 0; slice < lanes[lane].slices.size(); ++slice)
          if (state().recording()->round(lanes[lane].slices.round_index(slice)).drafted > 2)
            return {lane, slice};
    throw std::runtime_error("no such round");
  }

  /// Paints the details with the workers' results.
  void see() {
    for (int turn = 0; turn < 2; ++turn) {
      (void)details_.grab();
      settle();
    }
  }

  TimelineView& timeline_ = view_of<TimelineView>(window_, QStringLiteral("timeline"));
  DetailsView& details_ = view_of<DetailsView>(window_, QStringLiteral("details"));
};

TEST_F(DetailsDrawer, OpenWithTheFirstSelectionAndStayClosedOnceTheyWereClosed) {
  EXPECT_FALSE(details_.isVisible());
  timeline_.select(host_slice());
  EXPECT_TRUE(details_.isVisible());
  EXPECT_GE(timeline_.width(), details_.width()) << "the lanes keep most of the room";
  details_.findChild<QToolButton*>()->click();
  EXPECT_FALSE(details_.isVisible());
  timeline_.select(round_slice());
  EXPECT_FALSE(details_.isVisible());
  const QVariantMap kept = window_.pages().layout_state();
  window_.pages().open_details(true);
  EXPECT_TRUE(details_.isVisible());
  window_.pages().restore_layout(kept);
  EXPECT_FALSE(details_.isVisible()) << "remembered";
  window_.pages().reset_layout();
  window_.pages().open_timeline(true);
  timeline_.select(host_slice());
  EXPECT_TRUE(details_.isVisible());
}

TEST_F(DetailsDrawer, OpenAndCloseByKey) {
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  QTest::keyClick(&window_, Qt::Key_I, Qt::ControlModifier);
  EXPECT_TRUE(details_.isVisible());
  QTest::keyClick(&window_, Qt::Key_I, Qt::ControlModifier);
  EXPECT_FALSE(details_.isVisible());
}

TEST_F(DetailsDrawer, SayOfASliceWhatItIsAmongOthersOfItsKind) {
  const SlicePlace place = host_slice(1);
  timeline_.select(place);
  see();
  EXPECT_EQ(details_.page(), DetailsView::Page::slice);
  EXPECT_THAT(details_.words().toStdString(),
              testing::AllOf(testing::HasSubstr("layer"), testing::HasSubstr("Median of its kind"),
                             testing::HasSubstr("Rank"), testing::HasSubstr("Part of"),
                             testing::HasSubstr(state().run_rounds()->run->specification)));
  // The link to the enclosing slice selects that slice.
  const QString html = details_.findChild<QTextBrowser*>()->toHtml();
  const QString target = html.section(QStringLiteral("href=\"slice:"), 1).section(u'"', 0, 0);
  ASSERT_FALSE(target.isEmpty());
  QMetaObject::invokeMethod(details_.findChild<QTextBrowser*>(), "anchorClicked",
                            Q_ARG(QUrl, QUrl(QStringLiteral("slice:") + target)));
  ASSERT_TRUE(timeline_.selected());
  EXPECT_NE(*timeline_.selected(), place);
  const auto slice_time = [&](const SlicePlace& of) { return time_of(*state().timeline(), of); };
  EXPECT_LE(slice_time(*timeline_.selected()).start_ns, slice_time(place).start_ns);
  EXPECT_GE(slice_time(*timeline_.selected()).end_ns, slice_time(place).end_ns);
  // Words of a timeline before this one may link to what this one lacks.
  const auto before = timeline_.selected();
  for (const char* const gone : {"slice:100000:0", "slice:0:100000000"})
    QMetaObject::invokeMethod(details_.findChild<QTextBrowser*>(), "anchorClicked",
                              Q_ARG(QUrl, QUrl(QString::fromLatin1(gone))));
  EXPECT_EQ(timeline_.selected(), before);
}

TEST_F(DetailsDrawer, ListEachDraftTokenOfARoundWithItsFate) {
  const SlicePlace place = round_slice();
  timeline_.select(place);
  see();
  EXPECT_EQ(details_.page(), DetailsView::Page::round);
  const std::uint32_t index = state().timeline()->lanes[place.lane].slices.round_index(place.slice);
  int accepted = 0;
  int rejected = 0;
  int untested = 0;
  for (const traces::DraftToken& token : state().recording()->draft_tokens(index)) {
    ++(token.accepted ? accepted : token.tested ? rejected : untested);
    EXPECT_THAT(details_.words().toStdString(),
                testing::HasSubstr(QString::number(token.confidence, 'f', 3).toStdString()));
  }
  EXPECT_EQ(details_.words().count(QStringLiteral("✓ accepted")), accepted);
  EXPECT_EQ(details_.words().count(QStringLiteral("✗ rejected")), rejected);
  EXPECT_EQ(details_.words().count(QStringLiteral("– not verified")), untested);
  EXPECT_THAT(details_.words().toStdString(),
              testing::AllOf(testing::HasSubstr("planned"), testing::HasSubstr("Threshold"),
                             testing::HasSubstr("Drafts skip"), testing::HasSubstr("verify")));
  const std::uint32_t other = state().run_rounds()->rounds.back();
  state().go_to_round(other);
  see();
  EXPECT_TRUE(details_.words().contains(QStringLiteral("#%1").arg(state().recording()->place_in_run(other))));
}

TEST_F(DetailsDrawer, LeadToTheRoundAndTheRun) {
  timeline_.select(round_slice());
  see();
  auto* browser = details_.findChild<QTextBrowser*>();
  const std::uint32_t other = state().run_rounds()->rounds.back();
  QMetaObject::invokeMethod(browser, "anchorClicked",
                            Q_ARG(QUrl, QUrl(QStringLiteral("round:%1").arg(other))));
  EXPECT_EQ(state().cursor().round_index, other);
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("rounds")).isVisible());
  QMetaObject::invokeMethod(browser, "anchorClicked", Q_ARG(QUrl, QUrl(QStringLiteral("run:0"))));
  EXPECT_EQ(state().run(), 0U);
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("summary")).isVisible());
}

TEST_F(DetailsDrawer, AddUpASelectedRange) {
  const TimeRange whole = state().recording()->whole();
  const TimeRange range{whole.start_ns + whole.duration_ns() / 4, whole.end_ns - whole.duration_ns() / 4};
  state().set_selection(range);
  see();
  EXPECT_EQ(details_.page(), DetailsView::Page::names);
  ASSERT_NE(details_.profile(), nullptr);
  EXPECT_EQ(details_.profile()->duration_ns, range.duration_ns());
  const auto* table = details_.findChild<QTableView*>();
  EXPECT_EQ(table->model()->rowCount(), static_cast<int>(details_.profile()->names.size()));
  EXPECT_GT(table->model()->rowCount(), 3);
  // Numbers come first and are whole, and the name has the rest, at any width.
  for (const int width : {1280, 1920}) {
    window_.resize(width, 800);
    see();
    const QHeaderView& head = *table->horizontalHeader();
    EXPECT_TRUE(head.isVisible());
    EXPECT_EQ(table->model()->headerData(0, Qt::Horizontal).toString().toStdString(), "attributed");
    const int name = head.count() - 1;
    for (int column = 0; column < name; ++column)
      EXPECT_GE(head.sectionSize(column), head.sectionSizeHint(column));
    EXPECT_LE(head.sectionPosition(name) + head.sectionSize(name), table->viewport()->width()) << width;
    EXPECT_GT(head.sectionSize(name), 60) << width;
  }
}

TEST_F(DetailsDrawer, AreOfTheTimeShownWithoutASelectedRange) {
  window_.pages().open_details(true);
  details_.show_page(DetailsView::Page::names);
  see();
  ASSERT_NE(details_.profile(), nullptr);
  EXPECT_EQ(details_.profile()->duration_ns, state().range().duration_ns());
  const TimeRange whole = state().range();
  state().set_range({whole.start_ns, whole.start_ns + whole.duration_ns() / 3});
  see();
  EXPECT_EQ(details_.profile()->duration_ns, state().range().duration_ns());
}

TEST_F(DetailsDrawer, DrawTheFlameGraphWithChildrenInsideTheirParents) {
  window_.pages().open_details(true);
  details_.show_page(DetailsView::Page::flame_graph);
  see();
  FlameGraph& graph = details_.flame_graph();
  ASSERT_NE(details_.profile(), nullptr);
  const auto& nodes = details_.profile()->nodes;
  ASSERT_GT(nodes.size(), 4U);
  const auto expect_nested = [&] {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const QRectF box = graph.box_of(i);
      if (nodes[i].parent == ProfileNode::none || box.isEmpty()) continue;
      const QRectF above = graph.box_of(nodes[i].parent);
      EXPECT_GE(box.left(), above.left() - 0.01);
      EXPECT_LE(box.right(), above.right() + 0.01);
      EXPECT_GT(box.top(), above.top());
    }
  };
  expect_nested();
  graph.setFocus();
  QTest::keyClick(&graph, Qt::Key_Down);
  ASSERT_TRUE(graph.current());
  const std::size_t child = *graph.current();
  EXPECT_EQ(nodes[child].depth, 1U);
  EXPECT_THAT(graph.accessibleDescription().toStdString(), testing::HasSubstr(nodes[child].name));
  QTest::keyClick(&graph, Qt::Key_Return);
  EXPECT_EQ(graph.root(), child);
  EXPECT_NEAR(graph.box_of(child).width(), graph.width(), 0.01);
  expect_nested();
  QTest::keyClick(&graph, Qt::Key_Backspace);
  QTest::keyClick(&graph, Qt::Key_Backspace);
  EXPECT_FALSE(graph.root());
  QTest::keyClick(&graph, Qt::Key_Up);
  EXPECT_EQ(nodes[*graph.current()].depth, 0U);
  QTest::mouseClick(&graph, Qt::LeftButton, Qt::NoModifier, graph.box_of(child).center().toPoint());
  EXPECT_EQ(graph.root(), child);
}

TEST_F(DetailsDrawer, TakeTheNextPageByKey) {
  window_.pages().open_details(true);
  auto* choice = details_.findChild<QComboBox*>();
  for (int page = 0; page < choice->count(); ++page) {
    EXPECT_EQ(choice->currentIndex(), page);
    QTest::keyClick(&details_, Qt::Key_M);
  }
  EXPECT_EQ(choice->currentIndex(), 0);
}

TEST_F(DetailsDrawer, SurviveAnotherRecordingAndNone) {
  timeline_.select(host_slice());
  see();
  traces::make_sample_file(folder_ / "other.dstrace", {.seed = 5, .runs = 2});
  ASSERT_EQ(open(folder_ / "other.dstrace"), QString());
  see();
  EXPECT_FALSE(timeline_.selected());
  window_.close_all_recordings();
  see();
  EXPECT_EQ(details_.profile(), nullptr);
}

}  // namespace
}  // namespace draftscope::gui
