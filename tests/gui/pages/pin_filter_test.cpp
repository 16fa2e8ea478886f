// SPDX-License-Identifier: GPL-3.0-or-later
// Tests a second run that is pinned beside the shown one, and a filter that applies to all views of rounds,
// in the real window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QMenuBar>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>

#include "timeline/timeline_view.h"
#include "views/replay/replay_view.h"
#include "views/rounds/filter_bar.h"
#include "widgets/theme.h"
#include "window/pinned_pair.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class PinAndFilter : public Window {
 protected:
  void open_sample() { ASSERT_EQ(open(folder_ / "sample.dstrace"), QString()); }

  PinnedPair& pair_of(const QString& name) {
    QWidget* around = &raise(name);
    while (around != nullptr && qobject_cast<PinnedPair*>(around) == nullptr) around = around->parentWidget();
    return *qobject_cast<PinnedPair*>(around);
  }

  /// Filters, and waits until that has taken effect.
  void filter(const char* words) {
    QSignalSpy settled(&window_.filter(), &FilterBar::settled);
    window_.filter().set_words(QString::fromUtf8(words));
    if (settled.isEmpty()) {
      EXPECT_TRUE(settled.wait(10000));
    }
    settle();
  }
};

/// Prompt, repeat and token at a cursor.
std::tuple<std::int64_t, std::int32_t, std::size_t> place_of(const ViewState& state) {
  const traces::Request& request = state.recording()->recording().requests[state.cursor().request_index];
  return {request.prompt_id.value(), request.repeat, state.cursor().token_index};
}

TEST_F(PinAndFilter, PinnedRunStandsBesideTheShownOneByKeyAndGoesByKey) {
  open_sample();
  window_.state().set_run(1);
  for (const QString& name : {QStringLiteral("skip-map"), QStringLiteral("confidence"),
                              QStringLiteral("breakdown"), QStringLiteral("replay")})
    EXPECT_EQ(pair_of(name).pinned_view(), nullptr);
  QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier);
  ASSERT_TRUE(window_.pinned().is_pinned());
  EXPECT_EQ(window_.pinned().state().run(), 1U);
  window_.state().set_run(2);
  EXPECT_EQ(window_.pinned().state().run(), 1U);
  for (const QString& name : {QStringLiteral("skip-map"), QStringLiteral("confidence"),
                              QStringLiteral("breakdown"), QStringLiteral("replay")}) {
    PinnedPair& pair = pair_of(name);
    ASSERT_NE(pair.pinned_view(), nullptr);
    EXPECT_TRUE(pair.pinned_view()->isVisible()) << name.toStdString();
    EXPECT_FALSE(pair.pinned_view()->accessibleName().isEmpty());
    // The pinned run can be chosen by keyboard.
    auto* choice = pair.findChild<QComboBox*>(QString(), Qt::FindChildrenRecursively);
    ASSERT_NE(choice, nullptr);
  }
  QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier);
  EXPECT_FALSE(window_.pinned().is_pinned());
  EXPECT_EQ(pair_of(QStringLiteral("skip-map")).pinned_view(), nullptr);
}

TEST_F(PinAndFilter, PinnedRunIsAtTheSamePromptRepeatAndToken) {
  open_sample();
  ViewState& shown = window_.state();
  ViewState& pinned = window_.pinned().state();
  shown.set_run(1);
  window_.pinned().pin(0);
  std::size_t compared = 0;
  const auto& requests = shown.recording()->recording().requests;
  for (std::size_t request = 0; request < requests.size(); ++request) {
    if (requests[request].run_id != shown.recording()->runs()[1].run->id) continue;
    for (std::size_t token = 1; token < requests[request].tokens.size(); token += 3) {
      shown.go_to_token(request, token);
      if (std::get<0>(place_of(pinned)) != std::get<0>(place_of(shown)))
        continue;  // the pinned run did not decode this prompt
      EXPECT_EQ(std::get<1>(place_of(pinned)), std::get<1>(place_of(shown)));
      EXPECT_LE(std::get<2>(place_of(pinned)), token);
      EXPECT_EQ(pinned.recording()->run_of(pinned.cursor().round_index), 0U);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0U);
  EXPECT_EQ(shown.run(), 1U);
  // Moving the pinned cursor moves the shown one.
  const std::uint32_t somewhere = pinned.run_rounds()->rounds[pinned.run_rounds()->rounds.size() / 2];
  pinned.go_to_round(somewhere);
  if (std::get<0>(place_of(pinned)) == std::get<0>(place_of(shown))) {
    EXPECT_EQ(std::get<1>(place_of(pinned)), std::get<1>(place_of(shown)));
  }
  EXPECT_EQ(shown.run(), 1U);
  EXPECT_EQ(pinned.run(), 0U);
}

TEST_F(PinAndFilter, PinnedRunShowsTheSameRequestsAndGoesWithTheRecording) {
  open_sample();
  ViewState& shown = window_.state();
  window_.pinned().pin(0);
  EXPECT_EQ(window_.pinned().state().range(), shown.recording()->whole());
  // A range over one request of the shown run gives the pinned run the range of the same request.
  shown.set_run(1);
  const std::uint32_t first = shown.run_rounds()->rounds.front();
  shown.set_range({shown.recording()->round(first).start_ns, shown.recording()->round(first).end_ns});
  EXPECT_LT(window_.pinned().state().range().duration_ns(), shown.recording()->whole().duration_ns());
  shown.show_whole();
  EXPECT_EQ(window_.pinned().state().range(), shown.recording()->whole());
  // The pinned run stays while the recording is read again, and goes when another recording opens.
  EXPECT_EQ(wait_for_loading([&] { window_.reload(); }), QString());
  EXPECT_TRUE(window_.pinned().is_pinned());
  EXPECT_EQ(window_.pinned().state().recording(), shown.recording());
  traces::make_sample_file(folder_ / "other.dstrace", {.seed = 8});
  EXPECT_EQ(open(folder_ / "other.dstrace"), QString());
  EXPECT_FALSE(window_.pinned().is_pinned());
}

TEST_F(PinAndFilter, FilterLeavesTheRoundsThatItAsksForInEveryView) {
  open_sample();
  ViewState& state = window_.state();
  state.set_run(1);
  QWidget& breakdown = raise(QStringLiteral("breakdown"));
  const QImage before = breakdown.grab().toImage();
  QTest::keyClick(&window_, Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_TRUE(window_.filter().isVisible());
  filter("accepted=0");
  std::size_t expected = 0;
  for (const std::uint32_t round_index : state.run_rounds()->rounds)
    expected += state.recording()->round(round_index).accepted == 0 ? 1 : 0;
  ASSERT_GT(expected, 0U);
  ASSERT_LT(expected, state.run_rounds()->rounds.size());
  EXPECT_EQ(state.shown_rounds()->rounds.size(), expected);
  EXPECT_TRUE(is_said(
      qPrintable(QStringLiteral("%1 of %2 rounds").arg(expected).arg(state.run_rounds()->rounds.size()))));
  EXPECT_NE(breakdown.grab().toImage(), before);
  QWidget& rounds = raise(QStringLiteral("rounds"));
  settle();
  EXPECT_EQ(rounds.findChild<QTableView*>()->model()->rowCount(), static_cast<int>(expected));
  for (const QString& name :
       {QStringLiteral("skip-map"), QStringLiteral("confidence"), QStringLiteral("decisions")})
    (void)raise(name).grab();
  // Filter out every round, and then remove the filter.
  filter("accepted=0 accepted=1");
  EXPECT_TRUE(state.shown_rounds()->rounds.empty());
  for (const QString& name :
       {QStringLiteral("strip"), QStringLiteral("breakdown"), QStringLiteral("skip-map"),
        QStringLiteral("confidence"), QStringLiteral("decisions"), QStringLiteral("rounds")})
    (void)raise(name).grab();
  window_.filter().end();
  settle();
  EXPECT_FALSE(state.is_filtered());
  EXPECT_FALSE(window_.filter().isVisible());
  EXPECT_EQ(state.shown_rounds()->rounds.size(), state.run_rounds()->rounds.size());
}

TEST_F(PinAndFilter, FilterDimsTheOtherRoundsInTheTimeline) {
  open_sample();
  ViewState& state = window_.state();
  state.set_run(1);
  auto& timeline = view_of<TimelineView>(window_, QStringLiteral("timeline"));
  raise(QStringLiteral("timeline"));
  const QColor solid = phase_color(traces::Phase::verify, is_dark(timeline.palette()));
  // Number of pixels with the full colour of verification in the lane of the run's rounds.
  const auto solid_pixels = [&] {
    settle();
    const auto& rows = timeline.lanes().rows();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const LaneRow& one) {
      return one.kind == LaneRow::RowKind::lane &&
             timeline.lanes().groups()[one.group].run_index == state.run() &&
             state.timeline()->lanes[one.index].kind == LaneKind::rounds;
    });
    timeline.verticalScrollBar()->setValue(row->top);
    const QImage picture = timeline.viewport()->grab().toImage();
    const int top = 24 + row->top - timeline.verticalScrollBar()->value();
    int count = 0;
    for (int x = timeline.header_width(); x < picture.width(); ++x)
      for (int y = top; y < top + row->height - 2; ++y) count += picture.pixelColor(x, y) == solid ? 1 : 0;
    return count;
  };
  const auto& rounds = state.run_rounds()->rounds;
  const auto with = [&](bool has_accepted) {
    return *std::find_if(rounds.begin(), rounds.end(), [&](std::uint32_t index) {
      const traces::Round& round = state.recording()->round(index);
      return (round.accepted > 0) == has_accepted && round.verify_ns > (round.end_ns - round.start_ns) / 8;
    });
  };
  state.set_cursor({});
  for (const bool has_accepted : {false, true}) {
    const traces::Round& round = state.recording()->round(with(has_accepted));
    state.set_range({round.start_ns, round.end_ns});
    ASSERT_GT(solid_pixels(), 100);
    filter("accepted=0");
    state.set_cursor({});
    if (has_accepted) {
      EXPECT_EQ(solid_pixels(), 0);
    } else {
      EXPECT_GT(solid_pixels(), 100);
    }
    window_.filter().end();
  }
  // When zoomed out, a column is dimmed if the filter leaves none of its rounds.
  state.show_whole();
  const int all = solid_pixels();
  filter("accepted=0");
  const int some = solid_pixels();
  filter("accepted=0 accepted=1");
  EXPECT_EQ(solid_pixels(), 0);
  EXPECT_GT(some, 0);
  EXPECT_LT(some, all);
}

TEST_F(PinAndFilter, FilterSaysWhatIsWrongAndKeepsWhatWasRight) {
  open_sample();
  window_.state().set_run(1);
  filter("accepted=0");
  const std::size_t left = window_.state().shown_rounds()->rounds.size();
  filter("accepted=0 drafted>two");
  EXPECT_TRUE(is_said("found 'two', expected a number"));
  EXPECT_EQ(window_.state().shown_rounds()->rounds.size(), left);
  // The filter also applies to the next run and to the pinned run.
  filter("accepted=0");
  window_.pinned().pin(1);
  window_.state().set_run(2);
  for (const ViewState* state : {&window_.state(), &window_.pinned().state()})
    for (const std::uint32_t round_index : state->shown_rounds()->rounds)
      EXPECT_EQ(state->recording()->round(round_index).accepted, 0);
  auto* line = window_.filter().findChild<QLineEdit*>();
  QTest::keyClick(line, Qt::Key_Escape);
  settle();
  EXPECT_FALSE(window_.state().is_filtered());
  EXPECT_FALSE(window_.pinned().state().is_filtered());
}

}  // namespace
}  // namespace draftscope::gui
