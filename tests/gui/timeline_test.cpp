// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the timeline in the real window: searching, scrolling, tool tips.
#include <gmock/gmock.h>

#include <QHelpEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStatusBar>
#include <QToolTip>
#include <array>

#include "timeline/lane_painter.h"
#include "timeline/timeline_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class TimelineInWindow : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 14, .requests_per_run = 2, .max_rounds = 10});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
    window_.resize(1024, 600);
    raise(QStringLiteral("timeline"));
  }

  TimelineView& timeline_ = view_of<TimelineView>(window_, QStringLiteral("timeline"));
};

TEST_F(TimelineInWindow, ASearchScrollsToTheMatchAndLeavesTheRun) {
  ViewState& state = window_.state();
  QScrollBar& scroll = *timeline_.verticalScrollBar();
  ASSERT_GT(scroll.maximum(), 0);
  const std::size_t run = state.run();
  ASSERT_GT(timeline_.set_search(QStringLiteral("round")), 0);
  std::size_t deepest = 0;
  int lowest = 0;
  for (int step = 0; step < 400; ++step) {
    ASSERT_TRUE(timeline_.step_match(true));
    ASSERT_EQ(state.run(), run) << "searching is not asking for another run";
    if (timeline_.selected()->lane > deepest) {
      deepest = timeline_.selected()->lane;
      lowest = scroll.value();
    }
  }
  ASSERT_GT(deepest, 20U) << "a lane that does not fit on the screen";
  EXPECT_GT(lowest, 0) << "it was scrolled to";
}

TEST_F(TimelineInWindow, LanesLookAlikeAsAPictureAndAsBoxes) {
  Timeline timeline = *window_.state().timeline();
  for (std::size_t name = 0; name < timeline.names.size(); name += 3)
    timeline.names[name] += " 日";  // Names beyond Latin take a layout.
  const std::vector<bool> no_matches(timeline.names.size(), false);
  std::vector<bool> some_matches = no_matches;
  for (std::size_t name = 0; name < some_matches.size(); name += 2) some_matches[name] = true;
  const std::array<const std::vector<bool>*, 3> matches_of{nullptr, &no_matches, &some_matches};
  const LabelFont font{timeline_.font()};
  const QColor back(250, 240, 230);
  int drawn = 0;
  for (const Lane& lane : timeline.lanes)
    for (const int zoom : {1, 5, 40, 4000})
      for (const std::vector<bool>* matches : matches_of)
        for (const int pixels : {1, 2}) {
          const TimeRange whole = timeline.whole;
          const TimeAxis axis{{whole.start_ns, whole.start_ns + whole.duration_ns() / zoom}, 10, 300};
          const auto painted = [&](const QColor& behind) {
            QImage image(QSize(320, 30) * pixels, QImage::Format_ARGB32_Premultiplied);
            image.setDevicePixelRatio(pixels);
            image.fill(back);
            QPainter painter(&image);
            LabelBatch labels(painter, font);
            paint_lane(painter, timeline, lane, axis, {10, 5, 300, 18},
                       {.back = behind,
                        .matches = matches,
                        .opened = window_.state().recording().get(),
                        .labels = &labels});
            labels.draw();
            painter.end();
            return image;
          };
          const QImage picture = painted(back);
          ASSERT_EQ(picture, painted({}))
              << &lane - timeline.lanes.data() << ", zoom " << zoom << ", pixels " << pixels;
          QImage nothing = picture;
          nothing.fill(back);
          drawn += picture == nothing ? 0 : 1;
        }
  EXPECT_GT(drawn, 100);
}

TEST_F(TimelineInWindow, AClickOnAnotherRunStillTakesTheCursorThere) {
  ViewState& state = window_.state();
  const auto& lanes = state.timeline()->lanes;
  const auto lane = std::ranges::find_if(lanes, [&](const Lane& candidate) {
    return candidate.kind == LaneKind::rounds && candidate.slices.size() > 0 &&
           state.recording()->run_of(candidate.slices[0].round_index) != state.run();
  });
  ASSERT_NE(lane, lanes.end());
  timeline_.select(SlicePlace{static_cast<std::size_t>(lane - lanes.begin()), 0});
  EXPECT_EQ(state.run(), state.recording()->run_of(lane->slices[0].round_index));
}

TEST_F(TimelineInWindow, SaysInWordsHowManyNamesMatch) {
  QLineEdit* search = nullptr;
  for (QLineEdit* edit : window_.findChildren<QLineEdit*>())
    if (edit->accessibleName() == QStringLiteral("Search the timeline")) search = edit;
  ASSERT_NE(search, nullptr);
  const auto said = [&](const QString& words) {
    search->setText(words);
    return window_.statusBar()->currentMessage().toStdString();
  };
  EXPECT_EQ(said(QStringLiteral("skinny_product")), "1 name matches");
  EXPECT_THAT(said(QStringLiteral("a")), testing::ContainsRegex("^[0-9]+ names match$"));
  EXPECT_EQ(said(QStringLiteral("nothing is called so")), "0 names match");
}

TEST_F(TimelineInWindow, AnotherFileIsShownFromItsTopAndTheSameStaysWhereItIs) {
  QScrollBar& scroll = *timeline_.verticalScrollBar();
  scroll.setValue(scroll.maximum());
  ASSERT_GT(scroll.value(), 0);
  const int before = scroll.value();
  ASSERT_EQ(wait_for_loading([&] { window_.reload(); }), QString());
  EXPECT_EQ(scroll.value(), before);
  traces::make_sample_file(folder_ / "other.dstrace", {.seed = 7, .runs = 14, .requests_per_run = 2});
  ASSERT_EQ(open(folder_ / "other.dstrace"), QString());
  EXPECT_EQ(scroll.value(), 0);
}

TEST_F(TimelineInWindow, ToolTipsGoWhenThePointerOrThePictureMoves) {
  QWidget& area = *timeline_.viewport();
  const auto show = [&] {
    const QPoint at(20, 40);
    QHelpEvent help(QEvent::ToolTip, at, area.mapToGlobal(at));
    QApplication::sendEvent(&area, &help);
    return QToolTip::isVisible();
  };
  ASSERT_TRUE(show());
  QTest::mouseMove(&area, QPoint(20, 40));
  const QPointF far(20, 90);
  QMouseEvent move(QEvent::MouseMove, far, area.mapToGlobal(far), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
  QApplication::sendEvent(&area, &move);
  EXPECT_TRUE(QTest::qWaitFor([] { return !QToolTip::isVisible(); }, 2000)) << "the pointer is elsewhere";
  ASSERT_TRUE(show());
  window_.state().set_run(window_.state().run() == 1 ? 2 : 1);
  EXPECT_TRUE(QTest::qWaitFor([] { return !QToolTip::isVisible(); }, 2000)) << "it is about something else";
}

}  // namespace
}  // namespace draftscope::gui
