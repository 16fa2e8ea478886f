// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison in the real window: what it says of choices and figures, and what can be read of its charts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <qcustomplot.h>

#include <QTableView>
#include <QTreeWidget>

#include "models/column_text.h"
#include "views/compare/compare_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Comparing : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 9, .requests_per_run = 8, .max_rounds = 6});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
    raise(QStringLiteral("compare"));
  }

  CompareView& view_ = view_of<CompareView>(window_, QStringLiteral("compare"));
};

TEST_F(Comparing, SaysThatNoSeventhRunFitsAndKeepsTheChoice) {
  auto* choice = view_.findChild<QTreeWidget*>();
  const auto item = [&](int run) { return choice->topLevelItem(0)->child(run); };
  const std::vector<ComparedRun> before = view_.runs();
  ASSERT_EQ(before.size(), CompareView::max_runs);
  item(8)->setCheckState(0, Qt::Checked);
  EXPECT_TRUE(is_said("Six runs at most"));
  EXPECT_EQ(view_.runs(), before);
  EXPECT_EQ(item(8)->checkState(0), Qt::Unchecked) << "the boxes say what is compared";
  item(1)->setCheckState(0, Qt::Unchecked);
  item(8)->setCheckState(0, Qt::Checked);
  settle();
  EXPECT_EQ(view_.runs().back().run, 8U);
  EXPECT_FALSE(is_said("Six runs at most"));
}

TEST_F(Comparing, CountsThePromptsThatARunIsFasterOn) {
  for (const RunAgainstBaseline& run : view_.model().comparison().runs) {
    if (run.is_baseline) {
      EXPECT_EQ(run.prompts, 0U);
      continue;
    }
    // A request of the sample may have no token.
    EXPECT_LE(run.prompts, 8U);
    EXPECT_LE(run.faster_prompts, run.prompts);
    if (run.prompts == 0) continue;
    const QString cell =
        view_.model()
            .index(static_cast<int>(&run - view_.model().comparison().runs.data()), ComparisonModel::faster)
            .data()
            .toString();
    EXPECT_EQ(cell.toStdString(), fmt::format("{} of {}", run.faster_prompts, run.prompts));
  }
  // Against itself from the other side, the other prompts are the faster ones; none is as fast to the
  // nanosecond.
  const std::vector<ComparedRun> pair{view_.runs()[0], view_.runs()[1]};
  const RunsComparison there = compare(pair, 0);
  const RunsComparison back = compare(pair, 1);
  ASSERT_GT(there.runs[1].prompts, 1U);
  EXPECT_EQ(back.runs[0].prompts, there.runs[1].prompts);
  EXPECT_EQ(there.runs[1].faster_prompts + back.runs[0].faster_prompts, there.runs[1].prompts);
}

TEST_F(Comparing, SaysWhatPIsAndWhenTheIntervalSaysOtherwise) {
  const QString words =
      view_.model().headerData(ComparisonModel::significance, Qt::Horizontal, Qt::ToolTipRole).toString();
  EXPECT_THAT(words.toStdString(), testing::Not(testing::HasSubstr("equally fast")));
  EXPECT_THAT(words.toStdString(), testing::HasSubstr("as likely to be faster as slower"));

  const auto run = [](double low, double high, double p) {
    RunAgainstBaseline made;
    made.ratio = simulator::Speedup{.value = 1.0, .interval = simulator::Interval{low, high}};
    made.adjusted_p_value = p;
    return made;
  };
  EXPECT_TRUE(interval_and_p_disagree(run(0.77, 1.36, 0.04)));
  EXPECT_TRUE(interval_and_p_disagree(run(1.01, 1.36, 0.2)));
  EXPECT_FALSE(interval_and_p_disagree(run(0.77, 1.36, 0.2)));
  EXPECT_FALSE(interval_and_p_disagree(run(1.10, 1.36, 0.001)));
  EXPECT_FALSE(interval_and_p_disagree(run(0.70, 0.90, 0.001)));
  EXPECT_FALSE(interval_and_p_disagree(RunAgainstBaseline{}));
  EXPECT_EQ(figure_text(simulator::FigureFormat::p_value, 0.0043).toStdString(), "0.004");
  EXPECT_EQ(figure_text(simulator::FigureFormat::p_value, 6e-7).toStdString(), "< 0.001");
}

TEST_F(Comparing, ChartsAreNeverTooLowForTheNamesOfTheirAxes) {
  for (QCustomPlot* plot : view_.findChildren<QCustomPlot*>()) {
    plot->replot();
    const int margins = plot->height() - plot->axisRect()->height();
    const QFontMetrics font(plot->yAxis->labelFont());
    EXPECT_GE(plot->minimumHeight() - margins, font.horizontalAdvance(plot->yAxis->label()))
        << plot->yAxis->label().toStdString();
  }
}

}  // namespace
}  // namespace draftscope::gui
