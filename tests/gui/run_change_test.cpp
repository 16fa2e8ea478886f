// SPDX-License-Identifier: GPL-3.0-or-later
// When another run is chosen, all views follow, and none shows what the run does not have.
#include <gmock/gmock.h>

#include "views/replay/replay_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class RunChange : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  }

  [[nodiscard]] const traces::Request& request() {
    return window_.state().recording()->recording().requests[window_.state().cursor().request_index];
  }
};

TEST_F(RunChange, TakesTheCursorToTheSameTokenOfTheSamePrompt) {
  ViewState& state = window_.state();
  const auto& requests = state.recording()->recording().requests;
  for (std::size_t place = 0; place < requests.size(); ++place) {
    if (requests[place].tokens.size() < 6) continue;
    state.go_to_token(place, 4);
    const traces::Request before = request();
    for (std::size_t run = 0; run < state.recording()->runs().size(); ++run) {
      state.set_run(run);
      ASSERT_EQ(state.run(), run);
      EXPECT_EQ(request().run_id, state.recording()->runs()[run].run->id);
      EXPECT_EQ(request().prompt_id, before.prompt_id);
      EXPECT_EQ(request().repeat, before.repeat);
      EXPECT_LE(state.cursor().token_index, 4U);
      ASSERT_NE(state.cursor().round_index, no_index);
      EXPECT_EQ(state.recording()->run_of(state.cursor().round_index), run);
    }
  }
}

TEST_F(RunChange, TheReplayShowsTheTextOfTheRunThatIsNamed) {
  auto& replay = *qobject_cast<ReplayView*>(&raise(QStringLiteral("replay")));
  for (std::size_t run = 0; run < window_.state().recording()->runs().size(); ++run) {
    window_.state().set_run(run);
    settle();
    ASSERT_NE(replay.text().request, nullptr);
    EXPECT_EQ(replay.text().request->run_id, window_.state().recording()->runs()[run].run->id);
  }
}

TEST_F(RunChange, KeepsTheCursorInSight) {
  ViewState& state = window_.state();
  state.set_run(1);
  const traces::Round& first = state.recording()->round(state.run_rounds()->rounds.front());
  state.set_range({first.start_ns, first.end_ns});
  state.go_to_round(state.run_rounds()->rounds.front());
  state.set_run(2);
  const traces::Round& row = state.recording()->round(state.cursor().round_index);
  EXPECT_LE(state.range().start_ns, row.start_ns);
  EXPECT_GE(state.range().end_ns, row.end_ns);
}

TEST_F(RunChange, ViewsOfRoundsSayThatTheRangeHoldsNoneOfTheRun) {
  ViewState& state = window_.state();
  state.set_run(1);
  // Choose the time of another run's round.
  const traces::Round& other = state.recording()->round(state.recording()->runs()[2].rounds.front());
  state.set_range({other.start_ns, other.end_ns});
  for (const char* name : {"skip-map", "confidence", "breakdown"}) {
    QWidget& view = raise(QString::fromUtf8(name));
    EXPECT_THAT(view.accessibleDescription().toStdString(), testing::HasSubstr("no round of this run"))
        << name;
    // A click finds nothing.
    const Cursor before = state.cursor();
    QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, view.rect().center());
    EXPECT_EQ(state.cursor(), before) << name;
  }
  QTest::keyClick(&raise(QStringLiteral("breakdown")), Qt::Key_S);
  state.show_whole();
  EXPECT_THAT(raise(QStringLiteral("breakdown")).accessibleDescription().toStdString(),
              testing::Not(testing::HasSubstr("no round of this run")));
}

}  // namespace
}  // namespace draftscope::gui
