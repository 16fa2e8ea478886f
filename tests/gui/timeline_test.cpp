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
#include "timeline/slice_label.h"
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
  for (int step = 0; step < 400; ++step) {
    ASSERT_TRUE(timeline_.step_match(true));
    ASSERT_EQ(state.run(), run) << "searching is not asking for another run";
    deepest = std::max(deepest, timeline_.selected()->lane);
    const LaneRow& row = timeline_.lanes().rows().at(timeline_.current_row().value());
    EXPECT_EQ(row.index, timeline_.selected()->lane);
    EXPECT_GE(row.top, scroll.value()) << "it was scrolled to";
    EXPECT_LE(row.top + row.height, scroll.value() + timeline_.viewport()->height()) << "it was scrolled to";
  }
  ASSERT_GT(deepest, 20U) << "a lane that does not fit on the screen";
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

TEST_F(TimelineInWindow, AClickOnWhatIsShownLeavesTheRangeAndAKeyItsLength) {
  ViewState& state = window_.state();
  const auto& lanes = state.timeline()->lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const LaneSlices& slices = lanes[lane].slices;
    for (std::size_t slice = 0; slice < std::min<std::size_t>(slices.size(), 4); ++slice) {
      const TimeRange time{slices.start_ns(slice), slices.end_ns(slice)};
      if (time.duration_ns() < 1000) continue;
      const std::int64_t half_ns = time.duration_ns() / 2;
      // Inside of the slice, around its begin, around its end.
      for (const std::int64_t from_ns :
           {time.start_ns + half_ns / 2, time.start_ns - half_ns / 2, time.end_ns - half_ns / 2}) {
        state.set_range({from_ns, from_ns + half_ns});
        const TimeRange shown = state.range();
        timeline_.select(std::nullopt);
        timeline_.select(SlicePlace{lane, slice});
        ASSERT_EQ(state.range(), shown) << "lane " << lane << ", slice " << slice;
        if (slices.round_index(slice) != no_index) {
          ASSERT_EQ(state.cursor().round_index, slices.round_index(slice));
        }
      }
      if (slice + 1 == slices.size()) continue;
      const TimeRange shown = state.range();
      timeline_.select(SlicePlace{lane, slice + 1});
      ASSERT_EQ(state.range().duration_ns(), shown.duration_ns());
      ASSERT_LT(slices.start_ns(slice + 1), state.range().end_ns);
      ASSERT_GE(slices.end_ns(slice + 1), state.range().start_ns);
    }
  }
}

TEST_F(TimelineInWindow, ARoundAroundWhatIsShownLeavesTheRange) {
  ViewState& state = window_.state();
  const std::uint32_t round_index = state.run_rounds()->rounds[2];
  const traces::Round& round = state.recording()->round(round_index);
  const std::int64_t quarter_ns = (round.end_ns - round.start_ns) / 4;
  state.set_range({round.start_ns + quarter_ns, round.end_ns - quarter_ns});
  const TimeRange shown = state.range();
  state.go_to_round(round_index);
  EXPECT_EQ(state.range(), shown);
  EXPECT_EQ(state.cursor().round_index, round_index);
  state.go_to_round(state.run_rounds()->rounds.back());
  EXPECT_LE(state.range().start_ns, state.recording()->round(state.run_rounds()->rounds.back()).start_ns);
  EXPECT_GE(state.range().end_ns, state.recording()->round(state.run_rounds()->rounds.back()).end_ns);
}

TEST_F(TimelineInWindow, ToolTipsSayTheBeginToTheNanosecond) {
  const OpenedRecording& opened = *window_.state().recording();
  const traces::Round& round = opened.round(3);
  const auto begin_after = [&](std::int64_t ns) {
    return begin_text(opened, {.time = {round.start_ns + ns, round.start_ns + ns + 1}, .round_index = 3})
        .replace(u'\u00a0', u' ')
        .section(u' ', 1)
        .toStdString();
  };
  EXPECT_EQ(begin_after(0), "+ 0 ns");
  EXPECT_EQ(begin_after(999), "+ 999 ns");
  EXPECT_EQ(begin_after(26'300), "+ 26.300 µs");
  EXPECT_EQ(begin_after(1'026'345), "+ 1.026 345 ms");
  EXPECT_EQ(begin_after(2'000'000'001), "+ 2.000 000 001 s");
  EXPECT_EQ(begin_after(-1'500), "− 1.500 µs");
}

TEST_F(TimelineInWindow, SaysInWordsHowManyNamesMatch) {
  auto* search = &named_widget<QLineEdit>(window_, "Search the timeline");
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
