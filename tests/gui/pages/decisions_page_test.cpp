// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the page of decisions in the real window: pictures, keys and rows that lead to rounds, and the
// message where there is nothing to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QTableView>

#include "charts/chart_plot.h"
#include "views/decisions/decision_plot.h"
#include "views/decisions/decisions_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

class DecisionsPage : public Window {
 protected:
  /// Opens the sample with all decisions changed to DEL's.
  void open_exits() {
    traces::change(
        folder_ / "sample.dstrace",
        "INSERT OR IGNORE INTO strings(text) VALUES ('exit');"
        "UPDATE decisions SET kind = (SELECT id FROM strings WHERE text = 'exit'), adopted = 1, detail = "
        "'{\"exit\":3,\"gamma\":2,\"tpl\":0.1,\"acceptance_rates\":[0.2,0.5,0.9],"
        "\"thresholds\":[0.3,null,0.5]}'");
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    window_.state().set_run(1);
    raise(QStringLiteral("decisions"));
    settle();
  }

  DecisionsView& view() { return view_of<DecisionsView>(window_, QStringLiteral("decisions")); }
};

TEST_F(DecisionsPage, ShowsThePicturesOfItsRunAndLeadsToItsRounds) {
  open_exits();
  ViewState& state = window_.state();
  auto* plot = view().findChild<DecisionPlot*>();
  settle();
  ASSERT_NE(plot->picture(), nullptr);
  EXPECT_EQ(plot->picture()->picture->key, "tpl");
  // Page Down goes to the next round with a decision, and Page Up goes back.
  const auto& places = plot->picture()->places;
  ASSERT_GT(places.size(), 2U);
  state.go_to_round(state.run_rounds()->rounds[places[0]]);
  QTest::keyClick(plot, Qt::Key_PageDown);
  EXPECT_EQ(state.recording()->place_in_run(state.cursor().round_index), places[1]);
  QTest::keyClick(plot, Qt::Key_PageUp);
  EXPECT_EQ(state.recording()->place_in_run(state.cursor().round_index), places[0]);
  auto* table = view().findChild<QTableView*>();
  EXPECT_EQ(table->currentIndex().row(), 0) << "the table has the round's decision";
  ASSERT_GT(table->model()->rowCount(), 2);
  int last = table->model()->rowCount() - 1;
  while (!table->model()->index(last, 0).data().isValid()) --last;  // rows whose request had no round
  table->setCurrentIndex(table->model()->index(last, 0));
  EXPECT_EQ(static_cast<int>(state.recording()->place_in_run(state.cursor().round_index)),
            table->model()->index(last, 0).data().toInt());
}

TEST_F(DecisionsPage, DrawsAllItsPictures) {
  open_exits();
  auto* choice = view().findChild<QComboBox*>();
  ASSERT_EQ(choice->count(), static_cast<int>(decision_pictures().size()));
  for (int i = 0; i < choice->count(); ++i) {
    choice->setCurrentIndex(i);
    settle();
    (void)view().grab();
    const bool is_there = !choice->itemText(i).contains(QStringLiteral("(none)"));
    if (!is_there) {
      EXPECT_TRUE(is_said("This run made no such decision")) << i;
    }
  }
  view().choose("exits-by-segment");
  settle();
  EXPECT_TRUE(is_said("of the rounds ("));
}

TEST_F(DecisionsPage, SaysWhoRecordsThemWhereARunHasNone) {
  open_exits();
  window_.state().set_run(0);
  (void)view().grab();
  settle();
  EXPECT_TRUE(is_said("This run decided nothing that was recorded"));
}

TEST_F(DecisionsPage, IsWhereReturnInTheSkipMapLeads) {
  open_exits();
  window_.state().go_to_round(window_.state().run_rounds()->rounds.back());
  QWidget& map = raise(QStringLiteral("skip-map"));
  view().choose("length");
  QTest::keyClick(&map, Qt::Key_Return);
  settle();
  (void)view().grab();
  settle();
  EXPECT_TRUE(view().isVisible());
  const auto* plot = view().findChild<DecisionPlot*>();
  ASSERT_NE(plot->picture(), nullptr);
  EXPECT_EQ(plot->picture()->picture->kind, "exit");
}

TEST_F(DecisionsPage, ShowsTheSearchOfAPolicyAndWhyNot) {
  open_exits();
  view().open_search(QStringLiteral(DRAFTSCOPE_SOURCE_DIR "/models/policies/demo-layerskip.json"));
  settle();
  auto* plot = view().findChild<ChartPlot*>();
  ASSERT_TRUE(plot->isVisible());
  ASSERT_GT(plot->chart().x.names.size(), 1);
  QTest::keyClick(plot, Qt::Key_Right);
  EXPECT_THAT(plot->accessibleDescription().toStdString(), HasSubstr("trial 1"));
  QTest::keyClick(plot, Qt::Key_Right);
  EXPECT_THAT(plot->accessibleDescription().toStdString(), HasSubstr("trial 2"));
  view().open_search(QString::fromStdString((folder_ / "none.json").string()));
  EXPECT_TRUE(is_said("none.json"));
}

}  // namespace
}  // namespace draftscope::gui
