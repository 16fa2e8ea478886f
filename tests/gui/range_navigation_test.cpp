// SPDX-License-Identifier: GPL-3.0-or-later
// Tests wheel, drag and keys on the visible range of time, on a bare widget and in every view that has a
// range.
#include <gmock/gmock.h>

#include <QMouseEvent>
#include <QWheelEvent>

#include "data/lanes/load_recording.h"
#include "state/range_navigation.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

constexpr int left = 100;
constexpr int width = 300;

/// Returns whether the wheel event was accepted.
bool turn_wheel(QWidget& area, const QPointF& at, const QPoint& angle, Qt::KeyboardModifiers keys = {}) {
  QWheelEvent event(at, area.mapToGlobal(at), {}, angle, Qt::NoButton, keys, Qt::NoScrollPhase, false);
  event.ignore();
  QApplication::sendEvent(&area, &event);
  return event.isAccepted();
}

void send_mouse(QWidget& area, QEvent::Type type, const QPoint& at, Qt::KeyboardModifiers keys = {}) {
  const bool is_move = type == QEvent::MouseMove;
  QMouseEvent event(type, at, area.mapToGlobal(at), is_move ? Qt::NoButton : Qt::LeftButton,
                    type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton, keys);
  QApplication::sendEvent(&area, &event);
}

class Navigation : public testing::Test {
 protected:
  void SetUp() override {
    traces::make_sample_file(folder_ / "sample.dstrace", {.max_rounds = 60});
    const LoadedRecording loaded = load_recording(folder_ / "sample.dstrace").value();
    state_.add(loaded.recording, loaded.timeline);
    whole_ = state_.range();
    // The middle range leaves room on both sides.
    middle_ = {whole_.start_ns + whole_.duration_ns() / 4, whole_.end_ns - whole_.duration_ns() / 4};
    state_.set_range(middle_);
    state_.end_range_change();
    widget_.resize(left + width, 80);
  }

  [[nodiscard]] TimeAxis axis() const { return {state_.range(), left, width}; }

  [[nodiscard]] std::optional<AxisRanges> ranges() const {
    if (!has_axis_) return std::nullopt;
    const TimeAxis now = axis();
    AxisRanges ranges{.left = left,
                      .width = width,
                      .zoomed = [now](double factor, double pixel) { return now.zoomed(factor, pixel); },
                      .moved = [now](double pixels) { return now.moved(pixels); }};
    if (selects_) ranges.time_at = [now](double pixel) { return now.ns(pixel); };
    return ranges;
  }

  void drag(const QPoint& from, const std::vector<QPoint>& by_way_of, Qt::KeyboardModifiers keys = {}) {
    send_mouse(widget_, QEvent::MouseButtonPress, from, keys);
    for (const QPoint& point : by_way_of) send_mouse(widget_, QEvent::MouseMove, point, keys);
    send_mouse(widget_, QEvent::MouseButtonRelease, by_way_of.empty() ? from : by_way_of.back(), keys);
  }

  traces::TestFolder folder_;
  ViewState state_;
  TimeRange whole_, middle_;
  bool has_axis_ = true;
  bool selects_ = true;
  QWidget widget_;
  RangeNavigation navigation_{state_, widget_, widget_, [this] { return ranges(); }};
  QSignalSpy clicked_{&navigation_, &RangeNavigation::clicked};
};

TEST_F(Navigation, TheWheelZoomsAroundThePointerInAndOut) {
  for (const int pixel : {left, left + 60, left + width - 1}) {
    const std::int64_t before = axis().ns(pixel);
    EXPECT_TRUE(turn_wheel(widget_, QPointF(pixel, 40), {0, 120}));
    EXPECT_LT(state_.range().duration_ns(), middle_.duration_ns());
    EXPECT_NEAR(axis().ns(pixel), before, axis().ns_per_pixel());
    EXPECT_TRUE(turn_wheel(widget_, QPointF(pixel, 40), {0, -120}));
    EXPECT_NEAR(state_.range().duration_ns(), middle_.duration_ns(), 3.0);
  }
}

TEST_F(Navigation, TheWheelMovesSideways) {
  EXPECT_TRUE(turn_wheel(widget_, QPointF(200, 40), {-30, 10}));
  EXPECT_EQ(state_.range(), TimeAxis({middle_, left, width}).moved(30.0));
  EXPECT_EQ(state_.range().duration_ns(), middle_.duration_ns());
}

TEST_F(Navigation, DraggingMovesWithThePointerAndBack) {
  send_mouse(widget_, QEvent::MouseButtonPress, {250, 40});
  send_mouse(widget_, QEvent::MouseMove, {190, 40});
  EXPECT_EQ(state_.range(), TimeAxis({middle_, left, width}).moved(60.0));
  send_mouse(widget_, QEvent::MouseMove, {250, 40});
  EXPECT_EQ(state_.range(), middle_);
  send_mouse(widget_, QEvent::MouseButtonRelease, {250, 40});
  EXPECT_TRUE(clicked_.isEmpty());
  send_mouse(widget_, QEvent::MouseMove, {300, 40});
  EXPECT_EQ(state_.range(), middle_) << "released";
}

TEST_F(Navigation, ADragIsOneStepOfUndo) {
  drag({250, 40}, {{220, 40}, {200, 40}, {180, 40}});
  EXPECT_NE(state_.range(), middle_);
  drag({250, 40}, {{200, 40}});
  state_.range_history().undo();
  state_.range_history().undo();
  EXPECT_EQ(state_.range(), middle_);
}

TEST_F(Navigation, APressThatDoesNotMoveIsAClick) {
  drag({150, 40}, {});
  drag({170, 40}, {{171, 40}});
  ASSERT_EQ(clicked_.count(), 2);
  EXPECT_EQ(clicked_[0].front().toPoint(), QPoint(150, 40));
  EXPECT_EQ(state_.range(), middle_);
}

TEST_F(Navigation, ShiftDragSelectsARangeWhereTimesAreKnown) {
  const std::int64_t from = axis().ns(180);
  const std::int64_t to = axis().ns(260);
  drag({260, 40}, {{180, 40}}, Qt::ShiftModifier);
  ASSERT_TRUE(state_.selection());
  EXPECT_EQ(*state_.selection(), (TimeRange{from, to}));
  EXPECT_EQ(state_.range(), middle_);
  EXPECT_TRUE(clicked_.isEmpty());
  state_.set_selection(std::nullopt);
  selects_ = false;
  drag({260, 40}, {{180, 40}}, Qt::ShiftModifier);
  EXPECT_FALSE(state_.selection());
  EXPECT_NE(state_.range(), middle_) << "it moves as without Shift";
}

TEST_F(Navigation, KeysZoomMoveAndShowAll) {
  for (const auto& [in, out] : {std::pair(Qt::Key_W, Qt::Key_S), std::pair(Qt::Key_Up, Qt::Key_Down),
                                std::pair(Qt::Key_Plus, Qt::Key_Minus)}) {
    state_.set_range(middle_);
    QTest::keyClick(&widget_, in);
    EXPECT_LT(state_.range().duration_ns(), middle_.duration_ns());
    QTest::keyClick(&widget_, out);
    EXPECT_NEAR(state_.range().duration_ns(), middle_.duration_ns(), 3.0);
  }
  for (const auto& [back, forth] :
       {std::pair(Qt::Key_A, Qt::Key_D), std::pair(Qt::Key_Left, Qt::Key_Right)}) {
    state_.set_range(middle_);
    QTest::keyClick(&widget_, forth);
    EXPECT_GT(state_.range().start_ns, middle_.start_ns);
    QTest::keyClick(&widget_, back);
    EXPECT_EQ(state_.range(), middle_);
  }
  QTest::keyClick(&widget_, Qt::Key_Home);
  EXPECT_EQ(state_.range(), whole_);
}

TEST_F(Navigation, LeavesOtherKeysAndButtonsToTheView) {
  QKeyEvent key(QEvent::KeyPress, Qt::Key_M, Qt::NoModifier);
  QApplication::sendEvent(&widget_, &key);
  EXPECT_FALSE(key.isAccepted());
  for (const auto modifier : {Qt::ControlModifier, Qt::AltModifier, Qt::ShiftModifier}) {
    QKeyEvent arrow(QEvent::KeyPress, Qt::Key_Right, modifier);
    QApplication::sendEvent(&widget_, &arrow);
    EXPECT_FALSE(arrow.isAccepted()) << modifier;
  }
  QMouseEvent right(QEvent::MouseButtonPress, QPointF(200, 40), QPointF(200, 40), Qt::RightButton,
                    Qt::RightButton, Qt::NoModifier);
  QApplication::sendEvent(&widget_, &right);
  EXPECT_FALSE(right.isAccepted());
  EXPECT_EQ(state_.range(), middle_);
}

TEST_F(Navigation, DoesNothingWithoutAnAxis) {
  has_axis_ = false;
  EXPECT_FALSE(turn_wheel(widget_, QPointF(200, 40), {0, 120}));
  drag({250, 40}, {{150, 40}});
  for (const Qt::Key key : {Qt::Key_W, Qt::Key_D, Qt::Key_Home}) QTest::keyClick(&widget_, key);
  EXPECT_EQ(state_.range(), middle_);
  EXPECT_TRUE(clicked_.isEmpty());
}

TEST_F(Navigation, ViewsThatScrollKeepTheWheelWithShift) {
  EXPECT_TRUE(turn_wheel(widget_, QPointF(200, 40), {0, 120}, Qt::ShiftModifier));
  state_.set_range(middle_);
  QWidget view;
  QWidget area(&view);
  area.resize(left + width, 80);
  RangeNavigation scrolling(state_, view, area, [this] { return ranges(); });
  EXPECT_FALSE(turn_wheel(area, QPointF(200, 40), {0, 120}, Qt::ShiftModifier));
  EXPECT_EQ(state_.range(), middle_);
  EXPECT_TRUE(turn_wheel(area, QPointF(200, 40), {0, 120}));
  EXPECT_LT(state_.range().duration_ns(), middle_.duration_ns());
}

TEST_F(Window, EveryViewOnTheTimelineGoesThroughItInTheSameWay) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  for (const char* name : {"timeline", "skip-map", "confidence", "breakdown"}) {
    QWidget& view = raise(QString::fromUtf8(name));
    auto* timeline = qobject_cast<TimelineView*>(&view);
    QWidget& area = timeline == nullptr ? view : *timeline->viewport();
    state.show_whole();
    const TimeRange whole = state.range();
    const QPoint middle(area.width() / 2, area.height() / 2);
    EXPECT_TRUE(turn_wheel(area, QPointF(middle), {0, 480})) << name;
    const TimeRange zoomed = state.range();
    EXPECT_LT(zoomed.duration_ns(), whole.duration_ns()) << name;
    QTest::keyClick(&view, Qt::Key_D);
    EXPECT_GT(state.range().start_ns, zoomed.start_ns) << name;
    state.set_range(zoomed);
    send_mouse(area, QEvent::MouseButtonPress, middle);
    send_mouse(area, QEvent::MouseMove, middle + QPoint(100, 0));
    send_mouse(area, QEvent::MouseButtonRelease, middle + QPoint(100, 0));
    EXPECT_LT(state.range().start_ns, zoomed.start_ns) << name;
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_EQ(state.range(), whole) << name;
  }
}

TEST_F(Window, AClickTakesTheCursorToTheRoundThere) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  for (const char* name : {"skip-map", "confidence", "breakdown"}) {
    QWidget& view = raise(QString::fromUtf8(name));
    state.go_to_round(state.run_rounds()->rounds.front());
    QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, view.rect().center());
    EXPECT_NE(state.cursor().round_index, state.run_rounds()->rounds.front()) << name;
    EXPECT_NE(state.cursor().round_index, state.run_rounds()->rounds.back()) << name;
  }
}

}  // namespace
}  // namespace draftscope::gui
